#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""cpython_sockets.py MODULE PART PARTS [--all]: runs one part of a module of CPython's own tests (test_socket, test_selectors,
test_socketserver), but for those in CANNOT, which are about what RDMA has not; with --all those run, too, and each has to fail.

It knows nothing of rsockets, and is there to be run on librspreload. Many of these tests measure time, so one that fails runs again,
alone, up to twice. The last line is "MODULE: N tests, N failed, N skipped by CPython".
"""
import faulthandler
import fnmatch
import importlib
import sys
import unittest

import test.support

# A client that gives up leaves its server in accept() for ever. CPython's clients give up after 10 s, and connecting takes longer
# when several packets of one connection are lost.
test.support.LOOPBACK_TIMEOUT = 100.0

LIMIT_S = 400  # a test that hangs shows where

CONTROL = "datagrams have no control messages: asking for them is EOPNOTSUPP"
PROCESS = "a connection stays with the process that made it: a server with a process for each needs RDMAV_FORK_SAFE on both sides"
CLOSED = "a connection ends as a whole: a send after the other side's close fails at once, where TCP takes the first one"
CANNOT = {
    "Recvmsg*RFC3542AncillaryUDP6Test.*": CONTROL,
    "SocketServerTest.test_ForkingTCPServer": PROCESS,
    "SocketServerTest.test_ForkingUDPServer": PROCESS,
    "CreateServerTest.test_reuse_port": "rdma_cm has one listener at a port: there is no SO_REUSEPORT",
    "NetworkConnectionBehaviourTest.testOutsideTimeout": CLOSED,
}
# What has no sockets of TCP or UDP, and may depend on what else the kernel has
OTHERS = ["*VSOCK*", "*Unix*", "*CAN*", "*RDS*", "*TIPC*", "*SCTP*", "*UDPLITE*", "*Bluetooth*", "*QIPCRTR*", "*Crypto*"]


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def name(test):
    """CLASS.METHOD"""
    return ".".join(test.id().split(".")[-2:])


def matches(test, patterns):
    return any(fnmatch.fnmatchcase(name(test), pattern) for pattern in patterns)


def run(tests):
    """The tests that have failed, with what they say, and how many were skipped."""
    result = unittest.TestResult()
    unittest.TestSuite(tests).run(result)
    return {test: text for test, text in result.errors + result.failures}, len(result.skipped)


def failed(tests):
    found, skipped = run(tests)
    for _ in range(2):
        found = {test: text for again in found for test, text in run([again])[0].items()}
    for test, text in found.items():
        print(f"FAILED {name(test) if isinstance(test, unittest.TestCase) else test}\n{text}")
    return len(found), skipped


def not_failed(tests):
    """How many tests in CANNOT pass: the list is not true any more."""
    passed = [test for test in tests if not any(run([test]))]
    for test in passed:
        print(f"PASSED {name(test)}, which is in the list of what RDMA cannot do")
    return len(passed)


def main(module, part, parts, *form):
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)
    tests = flat(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"test.{module}")))
    tests = [test for test in tests if not matches(test, OTHERS)][int(part) :: int(parts)]
    possible = [test for test in tests if not matches(test, CANNOT)]
    bad, skipped = failed(possible)
    if form:
        bad += not_failed([test for test in tests if matches(test, CANNOT)])
    print(f"{module}: {len(possible)} tests, {bad} failed, {skipped} skipped by CPython")
    return 1 if bad or not possible else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
