#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pyverbs_run.py TESTS-DIRECTORY FILE [OPTION...] - runs the tests of pyverbs with its OPTIONs and appends a line for each to
# FILE: "passed|skipped|failed NAME reason". A test that ends the process has none, but "started NAME". Tests that FILE knows
# are not run again, so that whoever starts this again gets the rest.
import os
import re
import sys
import unittest


def last_line(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


class Lines(unittest.TestResult):
    """One line for each outcome, written at once."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.bad = set()

    def say(self, outcome, test, reason=''):
        name = test.id().removeprefix('tests.')
        print(outcome, name, reason.replace('\n', ' '), file=self.file, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.say('started', test)

    def addSuccess(self, test):
        self.say('passed', test)

    def addSkip(self, test, reason):
        self.say('skipped', test, reason)

    def addFailure(self, test, err):
        self.say('failed', test, last_line(err[1]))
        print(test.id(), self._exc_info_to_string(err, test), file=sys.stderr)

    def addSubTest(self, test, subtest, err):
        if err is not None and test.id() not in self.bad:
            self.bad.add(test.id())
            self.addFailure(test, err)

    addError = addFailure


def test_cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from test_cases(test)
        else:
            yield test


def names_in(file):
    try:
        with open(file, encoding='utf-8') as lines:
            return {line.split()[1] for line in lines}
    except FileNotFoundError:
        return set()


def mapped_libraries():
    """What this process has run on, as it says itself."""
    with open('/proc/self/maps', encoding='utf-8') as maps:
        paths = {line.rstrip('\n').split(maxsplit=5)[5] for line in maps if '/lib' in line}
    return sorted(path for path in paths if re.search('/lib(ibverbs|rdmacm|mlx[45])[.-]', path))


def main():
    directory, file = sys.argv[1:3]
    sys.argv[1:3] = []
    sys.path.insert(0, os.path.dirname(directory))
    sys.path.insert(0, directory)
    import tests
    from args_parser import parser

    parser.parse_args()
    known = names_in(file)
    all_tests = test_cases(unittest.defaultTestLoader.loadTestsFromModule(tests))
    rest = unittest.TestSuite(test for test in all_tests if test.id().removeprefix('tests.') not in known)
    with open(file, 'a', encoding='utf-8') as out:
        rest.run(Lines(out))
        for path in mapped_libraries():
            print('library', path, file=out)


main()
