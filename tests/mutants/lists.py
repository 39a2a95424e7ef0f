# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""lists.py - the lists of mutants, *.mutants in this directory: small faults, each of which a test has to see.

    mutant ah-sl                            a name, once in its list
    in libibverbs/cmd/cmd_ah.c              the file
    -	to->sl = from->sl;                  lines as in a diff: the old ones, those before "-" and " ", occur once in the file
    +	to->sl = 0;
    see unit/libibverbs:command|refusals    tests below tests/unit/libibverbs whose names match; the cheapest come first,
    see verbs-diff ib ah ud                 and one that sees the fault is enough; topics of a program that compares libraries
    each verbs:threads|faults               here every test that matches has to see it; one that cannot run any more does
    survives WHY                            no test sees it, for this reason
    sample                                  one of those that run without --all
"""
import glob
import os
import re

SEE = re.compile(r"(unit/\w+|verbs|cm):\S+|(verbs-diff|verbs-dc|cm-diff|rsocket-diff) (ib|roce)( [\w-]+)*")


class Fault(Exception):
    """A list that cannot be used as it is."""


def alternatives(pattern):
    """The patterns that PATTERN joins by "|", in parentheses or outside: each names a test of its own, and none may be gone."""
    found = re.search(r"\(([^()]*\|[^()]*)\)(?!\?)", pattern)
    if not found:
        return pattern.split("|") if "(" not in pattern else [pattern]
    return [one for branch in found[1].split("|") for one in alternatives(pattern[:found.start()] + branch + pattern[found.end():])]


class Mutant:
    """One small change: FILE, the lines before and after it, and the tests that should see it."""

    def __init__(self, part, name, where):
        self.part, self.name, self.where = part, name, where
        self.file, self.survives = None, None
        self.old, self.new = [], []
        self.tests = []
        self.sample = self.each = False

    def __str__(self):
        return f"{self.part}.{self.name}"

    def changed(self, text):
        """TEXT of the file with the change in it."""
        old = "".join(line + "\n" for line in self.old)
        places = [found for found in re.finditer(re.escape(old), text) if found.start() == 0 or text[found.start() - 1] == "\n"]
        if len(places) != 1:
            raise Fault(f"{self.where}: {self}: the old lines occur {len(places)} times in {self.file}")
        return text[:places[0].start()] + "".join(line + "\n" for line in self.new) + text[places[0].end():]

    def take(self, line):
        """One line of the list that belongs to this mutant."""
        if line[0] in " -":
            self.old.append(line[1:])
        if line[0] in " +":
            self.new.append(line[1:])
        if line[0] in " -+":
            return
        word, _, rest = line.partition(" ")
        if word == "in" and not self.file:
            self.file = rest
        elif word in ("see", "each") and SEE.fullmatch(rest):
            self.tests.append(rest)
            self.each |= word == "each"
        elif word == "survives" and rest:
            self.survives = rest
        elif line == "sample":
            self.sample = True
        else:
            raise Fault(f"{self.where}: {self}: not understood: {line}")

    def check(self, root, units):
        for directory, pattern in (see.split(":", 1) for see in self.tests if see.startswith("unit/")):
            for one in alternatives(pattern):
                if not any(name.startswith(directory + "/") and re.search(one, name) for name in units):
                    raise Fault(f"{self.where}: {self}: no unit test is called {directory}:{one}")
        if not (self.file and self.old and self.tests):
            raise Fault(f"{self.where}: {self}: needs a file, old lines and a test")
        if self.old == self.new:
            raise Fault(f"{self.where}: {self}: changes nothing")
        path = os.path.join(root, self.file)
        if not os.path.isfile(path):
            raise Fault(f"{self.where}: {self}: no file {self.file}")
        with open(path, encoding="utf-8") as file:
            self.changed(file.read())


def read_list(path):
    part = os.path.basename(path)[:-len(".mutants")]
    mutants = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            where = f"{os.path.basename(path)}:{number}"
            if not line or line.startswith("#"):
                continue
            if line.startswith("mutant "):
                mutants.append(Mutant(part, line.split(" ", 1)[1], where))
            elif mutants:
                mutants[-1].take(line)
            else:
                raise Fault(f"{where}: no mutant begins here: {line}")
    return mutants


def read_all(root):
    """The mutants of all lists, those of a file one after the other, so that as little as possible is built anew."""
    mutants = []
    for path in sorted(glob.glob(os.path.join(root, "tests/mutants/*.mutants"))):
        mutants += sorted(read_list(path), key=lambda mutant: mutant.file or "")
    return mutants


def unit_names(root):
    """What unit tests can be called: by their file, in a variant of the data path, or as their CMakeLists.txt says."""
    names = []
    for directory, _, files in os.walk(os.path.join(root, "tests/unit")):
        folder = os.path.relpath(directory, os.path.join(root, "tests"))
        names += [f"{folder}/{file[:-len('_test.c')]}{variant}" for file in files if file.endswith("_test.c") for variant in ("", "_v3", "_o0")]
        if "CMakeLists.txt" in files:
            with open(os.path.join(directory, "CMakeLists.txt"), encoding="utf-8") as file:
                text = file.read()
            names += [f"{folder}/{name}" for name in re.findall(r"unit_test\([^)]*\bAS (\S+)", text)]
            names += re.findall(r"add_test\(NAME (unit/\S+)", text)
    return names


def faults_of(root):
    """What is wrong with the lists: sentences."""
    try:
        mutants = read_all(root)
    except Fault as fault:
        return [str(fault)], 0
    faults, names, units = [], set(), unit_names(root)
    for mutant in mutants:
        try:
            mutant.check(root, units)
        except Fault as fault:
            faults.append(str(fault))
        if str(mutant) in names:
            faults.append(f"{mutant.where}: {mutant}: there is another of this name")
        names.add(str(mutant))
    return faults, len(mutants)
