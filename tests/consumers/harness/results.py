# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The line that each case prints, at once: "ok NAME", "FAIL NAME - reason" or "skip NAME - reason".

Before a failure come excerpts of the logs. A case that was collected and gave no result is a failure, too.
"""
import pytest

from harness.checks import Failure


def say(text):
    print(text, flush=True)


def excerpt(path):
    """The first and the last lines of a file."""
    lines = path.read_bytes().replace(b"\0", b"").decode(errors="replace").splitlines()
    if len(lines) > 24:
        lines = lines[:8] + ["[...]"] + lines[-15:]
    return "".join(f"    {line}\n" for line in lines)


def reason_of(failure):
    """One line of an exception."""
    if isinstance(failure, Failure):
        return failure.reason
    if isinstance(failure, pytest.fail.Exception):
        return (failure.msg or "failed").strip().splitlines()[0]
    lines = str(failure).strip().splitlines()
    kind = "" if isinstance(failure, AssertionError) and lines else f"{type(failure).__name__}: "
    return kind + (lines[0] if lines else "no reason")


class Results:
    """Counts the results of a run against the cases that were collected."""

    def __init__(self):
        self.missing = []
        self.failed = 0

    def expect(self, ids):
        """The cases to come; an ID belongs to one case, a name may be in several modules."""
        self.missing = list(dict.fromkeys(ids))

    def ok(self, case_id, name):
        self.conclude(case_id, f"ok {name}")

    def skip(self, case_id, name, reason):
        self.conclude(case_id, f"skip {name} - {reason}")

    def fail(self, case_id, name, reason):
        self.failed += 1
        self.conclude(case_id, f"FAIL {name} - {reason}")

    def conclude(self, case_id, line):
        say(" ".join(line.split("\n")))
        self.missing.remove(case_id)

    def show(self, name, files):
        """Prints excerpts of files, each once."""
        for path in dict.fromkeys(files):
            say(f"--- {path.name} of {name}")
            if path.exists():
                print(excerpt(path), end="", flush=True)

    def fail_missing(self):
        """A failure for each case without a result."""
        for case_id in list(self.missing):
            self.fail(case_id, case_id, "gave no result")
