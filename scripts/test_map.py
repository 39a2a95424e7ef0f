# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_map.py - which tests look at which source: what tests-of answers from, and check-tests checks.

A unit test is tests/unit/PATH_test.c or tests/unit/PATH_ASPECT_test.c, for PATH.c, PATH.h or the folder PATH. Any test may
have a line in its head:

    Covers: libibverbs/verbs_qp.c ibv_modify_qp ibv_query_qp, libibverbs/cmd/

A file with functions of it, or the files of a folder but not those of folders in it, between commas; a line that ends in a comma
goes on in the next. What a test calls is
found in its text. The names that ctest has for tests are read from the CMakeLists.txt below tests/.
"""
import os
import re
from collections import Counter
from dataclasses import dataclass, field

from sources import files_of, text_of

PRODUCT = ("libibverbs/", "librdmacm/", "providers/", "bridge/", "foreign/", "softhca/", "util/", "compat/", "prm/", "ib/")
# A definition begins its line, and its body is a line with a brace.
DEFINITION = re.compile(r"^(?![ \t#/*}])[^\n;{}]*?\b(\w+)\([^;{}]*?\)[^\n;(){}]*\n\{", re.MULTILINE)
COVERS = re.compile(r"^[ \t]*(?:/?\*|#|//|\")*[ \t]*Covers: (.*(?:(?<=,)\n.*)*)", re.MULTILINE)
HEAD_BYTES = 6000
NO_TEST = re.compile(r"tests/(lib|unit/.*(rig|fake_\w+|flat|pair|temp_tree|hex)\.[ch])")


@dataclass
class Test:
    """A file of tests/: the source that its name mirrors, and the (file or folder, functions) of its Covers lines."""

    file: str
    mirrors: str = ""
    covers: list = field(default_factory=list)

    def covers_file(self, name):
        """The functions that its lines name of a file, an empty list for all of it; None if it is not covered."""
        found = [functions for place, functions in self.covers if place in (name, os.path.dirname(name) + "/")]
        if not found:
            return None
        return [] if [] in found else [function for functions in found for function in functions]


def is_source(name):
    return name.startswith(PRODUCT) and name.endswith((".c", ".h"))


def mirrored(name, known):
    """The source that tests/unit/PATH_test.c is for: PATH, or PATH without what follows an underscore; '' if there is none."""
    path = name[len("tests/unit/") : -len("_test.c")]
    while True:
        for candidate in (path + ".c", path + ".h", path + "/"):
            if candidate in known:
                return candidate
        folder, _, stem = path.rpartition("/")
        if "_" not in stem:
            return ""
        path = (folder + "/" if folder else "") + stem.rpartition("_")[0]


def items_of_line(line):
    """A Covers line as (place, functions)."""
    for item in re.sub(r"\n[ \t]*[*#/]*", " ", line).replace("*/", "").split(","):
        words = item.strip().rstrip(".").split()
        if words:
            yield words[0], words[1:]


def functions_in(text):
    """(name, first line, last line) of each function that is defined in a text."""
    for found in DEFINITION.finditer(text):
        end = text.find("\n}", found.end())
        yield found[1], text.count("\n", 0, found.start()) + 1, text.count("\n", 0, end if end >= 0 else len(text)) + 2


class Map:
    """The tests and sources of a tree."""

    def __init__(self, root):
        self.root = root
        self.files = files_of(root)
        self.sources = [name for name in self.files if is_source(name)]
        self.known = set(self.sources)
        for name in self.sources:
            while "/" in name:
                name = name.rpartition("/")[0]
                self.known.add(name + "/")
        self.texts = {}
        self.tests = [self.test_of(name) for name in self.files if self.is_test(name)]

    def is_test(self, name):
        """A program or a script, rigs and what serves all tests left out."""
        if not name.startswith("tests/") or NO_TEST.match(name):
            return False
        return name.endswith((".c", ".cc", ".py")) or ("." not in os.path.basename(name) and self.text(name).startswith("#!"))

    def text(self, name):
        if name not in self.texts:
            self.texts[name] = text_of(self.root, name)
        return self.texts[name]

    def test_of(self, name):
        test = Test(name)
        if name.startswith("tests/unit/") and name.endswith("_test.c"):
            test.mirrors = mirrored(name, self.known)
        for line in COVERS.findall(self.text(name)[:HEAD_BYTES]):
            test.covers += items_of_line(line)
        return test

    def defined_in(self, function):
        """The (file, first line, last line) where a function is defined."""
        word = function + "("
        for name in self.sources:
            if word in self.text(name):
                for found, first, last in functions_in(self.text(name)):
                    if found == function:
                        yield name, first, last

    def tests_of_file(self, name):
        """(test, why) for a source."""
        for test in self.tests:
            functions = test.covers_file(name)
            if test.mirrors and (test.mirrors == name or is_pair(test.mirrors, name)):
                yield test, "its name"
            elif functions is not None:
                yield test, "covers " + (" ".join(functions) or "the file")

    def tests_of_function(self, function):
        """(test, why) for tests that call a function or say that they cover it."""
        call = re.compile(rf"\b{re.escape(function)}\b\s*[(,)]")
        for test in self.tests:
            if any(function in functions for _, functions in test.covers):
                yield test, "covers it"
            elif function in self.text(test.file) and call.search(self.text(test.file)):
                yield test, "calls it"


def is_pair(one, other):
    """qp.c and qp.h."""
    return one.rpartition(".")[0] == other.rpartition(".")[0]


# --- names of ctest ----------------------------------------------------------------------------------------------------

CALL = re.compile(r"^[ \t]*(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
HELPER = re.compile(r"^function\((\w+) (\w+).*?\n\s*add_test\(NAME ([\w./]*)\$\{\2\}", re.MULTILINE | re.DOTALL)


LOOP = re.compile(r"^[ \t]*foreach\((\w+) ([^()$]*)\)[^\n]*\n((?:(?!^[ \t]*foreach\()[\s\S])*?)^[ \t]*endforeach\(\).*\n", re.MULTILINE)


def unrolled(text):
    """A CMakeLists.txt without its loops over words, the innermost first."""
    count = 1
    while count:
        text, count = LOOP.subn(lambda loop: "".join(loop[3].replace("${%s}" % loop[1], word) for word in words_of(loop[2])), text)
    return text


def words_of(arguments):
    return re.sub(r"#.*", "", arguments).split()


def pattern_of(name):
    """A name in a CMakeLists.txt as a pattern for ctest -R."""
    return "^" + re.sub(r"\\\$\\\{\w+\\\}", ".+", re.escape(name)).replace(r"\-", "-") + "$"


def script_in(word, folder):
    """The file that a word such as ${here}/run-abuse or ${lib}/run-diff names."""
    path = re.sub(r"^\$\{(here|CMAKE_CURRENT_SOURCE_DIR)\}", folder, word.strip('"'))
    path = re.sub(r"^\$\{lib\}", "tests/lib", path)
    return os.path.normpath(path.replace("${PROJECT_SOURCE_DIR}/", ""))


def ctest_names(tree):
    """For each file of tests/ the patterns of the tests of ctest that are built of it, or run it."""
    lists = {name: unrolled(tree.text(name)) for name in tree.files if re.fullmatch(r"tests/(?!unit/).*CMakeLists\.txt", name)}
    helpers = {found[1]: found[3] for text in lists.values() for found in HELPER.finditer(text)}
    names = {}
    for list_file, text in lists.items():
        for name, file in named_in(text, helpers, os.path.dirname(list_file)):
            names.setdefault(file, []).append(pattern_of(name))
    return names


def named_in(text, helpers, folder):
    """(name, file) for the tests that a CMakeLists.txt adds, by add_test() or by a function that does."""
    calls = [(found[1], words_of(found[2])) for found in CALL.finditer(text)]
    sources = {words[0]: words[1:] for call, words in calls if call == "add_executable" and words}
    for call, words in calls:
        if call in helpers:
            name, words = helpers[call] + words[0], words[1:]
        elif call == "add_test" and words[:1] == ["NAME"]:
            name, words = words[1], words[3:]
        else:
            continue
        for file in files_of_test(words, sources, folder):
            yield name, file


def files_of_test(words, sources, folder):
    """The files that belong to a test with these words for a command."""
    for word in words:
        program = re.fullmatch(r"\$<TARGET_FILE:([\w-]+)>", word)
        for source in sources.get(program[1] if program else word, []):
            yield script_in(source if source.startswith("$") else f"{folder}/{source}", folder)
        if not program:
            yield script_in(word, folder)


def command_of(test, names):
    """How to run a test, from the top of the tree; '' for a file that no command is known of."""
    if test.mirrors:
        return f"ctest --test-dir build-gcc -R '^{test.file[len('tests/'):-len('_test.c')]}(_v3|_o0|\\..+)?$'"
    patterns = list(dict.fromkeys(names.get(test.file, [])))
    if patterns:
        return f"ctest --test-dir build-gcc -R '{short_pattern(patterns)}'"
    if re.fullmatch(r"tests/consumers/test_\w+\.py", test.file):
        return f"python3 -B -m pytest {test.file} --build build-gcc"
    return ""


def short_pattern(patterns):
    """One pattern for several: for more than three what most of them begin with, two words of a name."""
    if len(patterns) <= 3:
        return "|".join(patterns)
    families = Counter(re.match(r"\^[\w-]+(\\\.[\w-]+)?", pattern)[0] for pattern in patterns)
    return families.most_common(1)[0][0] + r"(\.|$)"
