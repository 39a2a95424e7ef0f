# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""places.py - the places of a C source where one small change makes a mutant, found by its tokens.

Only bodies of functions are changed; they begin and end with a brace in the first column. Comments, strings, preprocessor
lines, assertions at build time and calls that only write a line of the log are left alone. A change that does not compile is
generate's to notice.
"""
import errno
import re

TOKEN = re.compile(r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+\.\d+|\d+[uUlL]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""", re.VERBOSE | re.DOTALL)

OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
LOG = re.compile(r"^(verbs_(warn|log|err|debug|info)\w*|log_\w+|trace\w*|fprintf|printf|perror|warn\w*|static_assert|_Static_assert|assert)$")
BARRIER = re.compile(r"barrier|fence|^udma_|^mmio_|_mb$|wmb|flush_writes|^__atomic_thread|order_")
LOCKING = re.compile(r"(^|_)(un)?lock$|_lock_|^qlock_(take|drop|enter|leave)|pthread_(mutex|spin|rwlock)_(lock|unlock|\w+lock)$")
ERRNOS = {*errno.errorcode.values(), "EOPNOTSUPP", "ENOTSUP", "EAGAIN"}
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue", "sizeof"}


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Place:
    """One change of FILE: the bytes from START to END of its text become NEW."""

    def __init__(self, kind, start, end, new):
        self.kind, self.start, self.end, self.new = kind, start, end, new
        self.file = self.function = self.text = self.line = None
        self.nth = 1  # of those of the same kind in the line

    def settle(self, file, function, text):
        self.file, self.function, self.text = file, function, text
        self.line = text.count("\n", 0, self.start) + 1
        return self

    def __str__(self):
        return f"{self.file}:{self.line}:{self.kind}" + (f".{self.nth}" if self.nth > 1 else "")

    def changed(self):
        return self.text[:self.start] + self.new + self.text[self.end:]

    def lines(self):
        """The lines before and after the change, without what they begin and end with."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.end)
        before, after = self.text[first:last], self.text[first:self.start] + self.new + self.text[self.end:last]
        return [[line.strip() for line in part.split("\n") if line.strip()] for part in (before, after)]


def tokens_of(text, start, end):
    """The tokens between START and END, without blanks and preprocessor lines."""
    tokens = []
    for found in TOKEN.finditer(text, start, end):
        if found.lastgroup != "blank":
            tokens.append(Token(found.lastgroup, found.group(), found.start()))
    return [token for token in tokens if not in_directive(text, token.start)]


def in_directive(text, at):
    """Whether AT is in a preprocessor line or in one that continues it."""
    while True:
        first = text.rfind("\n", 0, at) + 1
        if text[first:at + 1].lstrip().startswith("#"):
            return True
        if first < 2 or text[first - 2] != "\\":
            return False
        at = first - 2


def bodies_of(text):
    """(name, start, end, whether it returns nothing) of each function's body, braces left out."""
    for found in re.finditer(r"^\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        head = text[:found.start()].rstrip()
        signature = head[max(head.rfind("\n}"), head.rfind(";\n"), head.rfind("*/"), head.rfind("\n\n")) + 1:]
        name = re.search(r"(\w+)\s*\(", signature)
        if name and head.endswith(")"):
            result = signature[:name.start()]
            yield name.group(1), found.start(1), found.end(1), "void" in result and "*" not in result


def matching(tokens, at):
    """The index of the bracket that closes that at AT."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i].text in OPENING
        depth -= tokens[i].text in CLOSING
        if not depth:
            return i
    return None


def operators(tokens):
    for token in tokens:
        if token.kind == "sign" and token.text in RELATIONS:
            yield Place("relation", token.start, token.end, RELATIONS[token.text])
        elif token.kind == "sign" and token.text in LOGIC:
            yield Place("logic", token.start, token.end, LOGIC[token.text])


def numbers(tokens):
    """A number becomes one more, but not in a label: there the compiler would see two alike."""
    for i, token in enumerate(tokens):
        if token.kind == "number" and "." not in token.text and tokens[i - 1].text != "case":
            yield Place("number", token.start, token.end, f"({token.text} + 1)")


def errnos(tokens):
    for i, token in enumerate(tokens):
        if token.text in ERRNOS and tokens[i - 1].text not in ("==", "!=", "case"):
            yield Place("errno", token.start, token.end, "EIO" if token.text == "EINVAL" else "EINVAL")


def conditions(tokens):
    for i, token in enumerate(tokens[:-1]):
        if token.text in ("if", "while") and tokens[i + 1].text == "(":
            close = matching(tokens, i + 1)
            if close:
                yield Place("negate", tokens[i + 1].end, tokens[close].start, None)


def statement_starts(tokens):
    """The indices at which a statement may begin."""
    yield 0
    for i, token in enumerate(tokens[:-1]):
        if token.text in (";", "{", "}", ":") or token.text in ("else", "do"):
            yield i + 1
        elif token.text in ("if", "while", "for", "switch") and tokens[i + 1].text == "(":
            close = matching(tokens, i + 1)
            if close and close + 1 < len(tokens):
                yield close + 1


def statement_end(tokens, at):
    """The index of the semicolon that ends the statement at AT, or None when that is no simple one."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in OPENING:
            depth += 1
        elif tokens[i].text in CLOSING:
            depth -= 1
            if depth < 0:
                return None
        elif tokens[i].text == ";" and not depth:
            return i
    return None


def is_declaration(tokens, at):
    return tokens[at + 1].kind == "name" or (tokens[at + 1].text == "*" and tokens[at + 2].kind == "name")


def kind_of_statement(tokens, at, end):
    """call, lock, barrier or statement; None for what is not to be removed."""
    first = tokens[at]
    if first.text in ("break", "continue", "goto"):
        return "statement"
    if first.text in KEYWORDS or end - at < 2 or (first.kind == "name" and is_declaration(tokens, at)):
        return None
    if first.kind != "name" or tokens[at + 1].text != "(" or matching(tokens, at + 1) != end - 1:
        return "statement" if first.kind == "name" or first.text in ("*", "(", "++", "--") else None
    if LOG.match(first.text):
        return None
    return "lock" if LOCKING.search(first.text) else "barrier" if BARRIER.search(first.text) else "call"


def removals(tokens):
    for at in sorted(set(statement_starts(tokens))):
        end = statement_end(tokens, at)
        kind = kind_of_statement(tokens, at, end) if end is not None else None
        if kind:
            yield Place(kind, tokens[at].start, tokens[end].end, ";")


def arguments_of(tokens, opening):
    """The arguments of a call as (first, last) indices."""
    close = matching(tokens, opening)
    parts, first, depth = [], opening + 1, 0
    for i in range(opening + 1, (close or opening) + 1):
        if tokens[i].text in OPENING:
            depth += 1
        elif i != close and tokens[i].text in CLOSING:
            depth -= 1
        if (tokens[i].text == "," and not depth) or i == close:
            parts.append((first, i - 1))
            first = i + 1
    return parts


def is_simple(tokens, first, last):
    return first <= last and all(token.kind == "name" or token.text in ("->", ".", "*", "&") for token in tokens[first:last + 1])


def swaps(tokens, text):
    """Two neighbours among the arguments of a call change places; the compiler refuses pointers to other types."""
    for i, token in enumerate(tokens[:-1]):
        if token.kind != "name" or token.text in KEYWORDS or LOG.match(token.text) or tokens[i + 1].text != "(":
            continue
        parts = arguments_of(tokens, i + 1)
        for (a, b), (c, d) in zip(parts, parts[1:]):
            if is_simple(tokens, a, b) and is_simple(tokens, c, d):
                left, right = text[tokens[a].start:tokens[b].end], text[tokens[c].start:tokens[d].end]
                if left != right:
                    yield Place("swap", tokens[a].start, tokens[d].end, f"{right}, {left}")


def without_log(tokens):
    """The tokens outside of calls that only write a line."""
    kept, i = [], 0
    while i < len(tokens):
        if tokens[i].kind == "name" and LOG.match(tokens[i].text) and i + 1 < len(tokens) and tokens[i + 1].text == "(":
            i = (matching(tokens, i + 1) or i) + 1
            kept.append(Token("sign", "log", tokens[i - 1].start))
            continue
        kept.append(tokens[i])
        i += 1
    return kept


def early_return(tokens, is_void):
    if len(tokens) > 4:
        return [Place("return", tokens[0].start, tokens[0].start, "return; " if is_void else "return 0; ")]
    return []


def of_body(text, start, end, is_void):
    tokens = without_log(tokens_of(text, start, end))
    if not tokens:
        return
    for find in (operators, numbers, errnos, removals):
        yield from find(tokens)
    for place in conditions(tokens):
        place.new = f"!({text[place.start:place.end]})"
        yield place
    yield from swaps(tokens, text)
    yield from early_return(tokens, is_void)


def places_in(file, text):
    """All places of a file, in the order of its text."""
    places = []
    for name, start, end, is_void in bodies_of(text):
        places += [place.settle(file, name, text) for place in of_body(text, start, end, is_void)]
    places.sort(key=lambda place: (place.start, place.kind, place.end))
    seen = {}
    for place in places:
        place.nth = seen[(place.line, place.kind)] = seen.get((place.line, place.kind), 0) + 1
    return places
