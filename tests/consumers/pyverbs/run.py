#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""run.py TESTS-DIRECTORY FILE [OPTION...]: runs the tests of pyverbs with its OPTIONs and appends lines to FILE.

First comes "exists NAME" for each test that there is, once. A test has "started NAME", and "passed|skipped|failed NAME reason" at its
end: one that ends the process has no second line. Tests that have started before are not run again, so that the next start runs the
rest. "library PATH" tells which RDMA libraries the process has run on.
"""
import os
import re
import subprocess
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
        print(outcome, name_of(test), reason.replace('\n', ' '), file=self.file, flush=True)

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


def name_of(test):
    return test.id().removeprefix('tests.')


def test_cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from test_cases(test)
        else:
            yield test


def lines_of(path):
    """The lines of the file so far, as lists of words."""
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as file:
        return [line.split() for line in file]


def mapped_libraries():
    """The RDMA libraries of this process, as it says itself."""
    with open('/proc/self/maps', encoding='utf-8') as maps:
        paths = {line.rstrip('\n').split(maxsplit=5)[5] for line in maps if '/lib' in line}
    return sorted(path for path in paths if re.search('/lib(ibverbs|rdmacm|mlx[45])[.-]', path))


def address_of_first_port(ifname):
    """IP and MAC address for the tests of rdma_cm: those of the interface may be the loopback's, which has no device."""
    # /sys may be that of another network namespace
    link = subprocess.check_output(['ip', '-o', 'link', 'show', 'dev', ifname], text=True)
    return '198.18.0.1', re.search(r'link/\w+ ([0-9a-f:]{17})', link).group(1)


def main():
    directory, path = sys.argv[1:3]
    sys.argv[1:3] = []
    sys.path.insert(0, os.path.dirname(directory))
    sys.path.insert(0, directory)
    import tests
    from args_parser import parser

    parser.parse_args()
    tests.base.RDMATestCase.get_ip_mac_address = staticmethod(address_of_first_port)
    all_tests = list(test_cases(unittest.defaultTestLoader.loadTestsFromModule(tests)))
    lines = lines_of(path)
    known = {words[1] for words in lines if words[0] != 'exists'}
    with open(path, 'a', encoding='utf-8') as out:
        if not lines:
            for test in all_tests:
                print('exists', name_of(test), file=out, flush=True)
        unittest.TestSuite(test for test in all_tests if name_of(test) not in known).run(Lines(out))
        for library in mapped_libraries():
            print('library', library, file=out)


main()
