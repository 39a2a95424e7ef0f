# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What C headers declare: structures with their fields, enumerators, functions and integer macros.

Works on the output of the compiler's preprocessor, so it only needs to know the shape of declarations: no expressions,
no types. Used by compare-headers.
"""
import re
import subprocess

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|\S')
MARKER = re.compile(r'# \d+ "([^"]*)"')
CLOSING = {"(": ")", "{": "}", "[": "]"}


class Declarations:
    def __init__(self):
        self.fields = {}  # "struct x" -> [(path, is a sized object)]
        self.enumerators = []
        self.functions = []
        self.macros = []  # those that look like integers
        self.defined = []  # all that have a body, function-like ones too


def matching(tokens, i):
    """The index after the bracket that closes the one at i."""
    close = CLOSING[tokens[i]]
    depth = 0
    while True:
        depth += (tokens[i] in CLOSING) - (tokens[i] in CLOSING.values())
        i += 1
        if depth == 0:
            assert tokens[i - 1] == close
            return i


def without_attributes(tokens):
    out, i = [], 0
    while i < len(tokens):
        if tokens[i] in ("__attribute__", "__asm__"):
            i = matching(tokens, i + 1)
        elif tokens[i] == "__extension__":
            i += 1
        else:
            out.append(tokens[i])
            i += 1
    return out


def split_commas(tokens):
    part, i = [], 0
    while i < len(tokens):
        if tokens[i] in CLOSING:
            end = matching(tokens, i)
            part += tokens[i:end]
            i = end
        elif tokens[i] == ",":
            yield part
            part = []
            i += 1
        else:
            part.append(tokens[i])
            i += 1
    yield part


def declared_name(part):
    """The name in one declarator, and whether sizeof works on it."""
    size = part.index("[") if "[" in part else len(part)
    if "(" in part[:size]:
        inner = part[part.index("(") + 1:]
        return next(t for t in inner if t != "*"), True
    sized = part[size + 1:size + 2] not in (["]"], ["0"])
    return part[size - 1], sized


class Parser:
    def __init__(self, tokens):
        self.tokens = without_attributes(tokens)
        self.found = Declarations()

    def parse(self):
        i = 0
        while i < len(self.tokens):
            i = self.declaration(i)
        return self.found

    def declaration(self, i):
        """One declaration or function definition at file level; returns the index after it."""
        named = False
        while i < len(self.tokens):
            t = self.tokens[i]
            if t in ("struct", "union", "enum"):
                i, _ = self.aggregate(i)
            elif t == "(":
                if not named and re.match(r"[A-Za-z_]", self.tokens[i - 1]):
                    self.found.functions.append(self.tokens[i - 1])
                    named = True
                i = matching(self.tokens, i)
            elif t == "{":
                return matching(self.tokens, i)
            elif t in ("typedef", "_Static_assert", "extern"):
                named = named or t != "extern"
                i += 1
            elif t == ";":
                return i + 1
            else:
                i += 1
        return i

    def aggregate(self, i):
        """struct, union or enum at i, with or without a body. Returns the index after it and the fields of a body."""
        kind, name = self.tokens[i], None
        i += 1
        if re.match(r"[A-Za-z_]", self.tokens[i]):
            name = self.tokens[i]
            i += 1
        if self.tokens[i] != "{":
            return i, None
        end = matching(self.tokens, i)
        if kind == "enum":
            self.found.enumerators += [p[0] for p in split_commas(self.tokens[i + 1:end - 1]) if p]
            return end, []
        fields = self.members(i + 1, end - 1)
        if name:
            self.found.fields[f"{kind} {name}"] = fields
        return end, fields

    def members(self, i, end):
        fields = []
        while i < end:
            inner, rest = None, []
            while self.tokens[i] != ";":
                if self.tokens[i] in ("struct", "union", "enum"):
                    i, body = self.aggregate(i)
                    inner = body if body is not None else inner
                    rest.append("type")
                elif self.tokens[i] in CLOSING:
                    after = matching(self.tokens, i)
                    rest += self.tokens[i:after]
                    i = after
                else:
                    rest.append(self.tokens[i])
                    i += 1
            i += 1
            if inner is not None and rest[-1] == "type":
                fields += inner
                continue
            for part in split_commas(rest):
                name, sized = declared_name(part)
                fields.append((name, sized))
                fields += [(f"{name}.{path}", s) for path, s in inner or [] if "[" not in part]
        return fields


def defined_macros(compiler, flags, headers):
    """The names of all macros that are defined after including the headers."""
    source = "".join(f"#include <{h}>\n" for h in headers)
    text = subprocess.run(compiler + flags + ["-E", "-dM", "-Wno-cpp", "-xc", "-"], input=source, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return set(re.findall(r"^#define (\w+)", text, re.M))


def read(compiler, flags, headers, within):
    """The declarations in files below directory within that including the headers brings."""
    source = "".join(f"#include <{h}>\n" for h in headers)
    text = subprocess.run(compiler + flags + ["-E", "-dD", "-Wno-cpp", "-xc", "-"], input=source, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    tokens, macros, defined, inside = [], [], [], False
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            inside = marker.group(1).startswith(within)
        elif not inside:
            continue
        elif line.startswith("#"):
            macro = re.match(r"#define ([A-Za-z_]\w*)(\([^)]*\))? +(\S.*)", line)
            if not macro:
                continue
            defined.append(macro.group(1))
            if not macro.group(2) and not macro.group(1).startswith("_") and re.search(r"\d|[A-Z]{3}", macro.group(3)):
                macros.append(macro.group(1))
        else:
            tokens += TOKEN.findall(line)
    found = Parser(tokens).parse()
    found.macros, found.defined = macros, defined
    return found
