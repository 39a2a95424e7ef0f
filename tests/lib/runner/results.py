# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""results.py - results of tests, one a line: `ok NAME`, `FAIL NAME - reason`, `skip NAME - reason`.

Shared by suite, which runs a script that prints such lines, by ctest-results, which prints them for the tests of
another build, and by run-ctest, which counts them all. Here are the line's form, what a machine may skip, the
comparison with the names that exist, reports of a strict adapter, and what ctest says in its JUnit file.
"""
import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml
from collections import Counter
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.dirname(HERE)
ROOT = os.path.dirname(os.path.dirname(LIB))
LINE = re.compile(r"(ok|FAIL|skip) (\S+?):?(?: (?:- )?(.*))?$")
WRONG = re.compile(r"^fault: |^FAIL\b|^WRONG |: WRONG|: FAIL\b|: line \d+ needs: |ERROR: \w+Sanitizer|^\[  ERROR   \]")  # a check of a test, or of a sanitizer
NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd]")


@dataclass
class Result:
    outcome: str
    name: str
    reason: str = ""

    def __str__(self):
        return f"{self.outcome} {self.name}" + (f" - {self.reason}" if self.reason else "")


def parse_line(line):
    """The result that a line is, or None."""
    found = LINE.match(line)
    return Result(found[1], found[2], found[3] or "") if found else None


def lines_of(path):
    """What a file lists, without comments."""
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


class AllowedSkips:
    """tests/skips-allowed, and the file that RDMAKIT_SKIPS names: a line has a pattern of names and one of reasons."""

    def __init__(self):
        self.rules = []
        for path in filter(None, [os.path.join(ROOT, "tests/skips-allowed"), os.environ.get("RDMAKIT_SKIPS")]):
            for line in lines_of(path):
                name, _, reason = line.partition(" ")
                self.rules.append((re.compile(name), re.compile(reason.strip())))

    def allows(self, result):
        return any(name.fullmatch(result.name) and reason.fullmatch(result.reason) for name, reason in self.rules)

    def judge(self, result):
        """The result itself, or a failure if it is a skip that is not allowed."""
        if result.outcome != "skip" or self.allows(result):
            return result
        return Result("FAIL", result.name, f"skipped, which tests/skips-allowed does not allow: {result.reason}")


def some_of(names):
    """The names of a Counter for a message."""
    names = sorted(names.elements())
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def covered_by(skip, names, is_only_one):
    """The names that a skip stands for: its own and those below it; all of them if it is a suite's only result."""
    return Counter(
        {name: n for name, n in names.items() if is_only_one or name == skip.name or name.startswith(skip.name + ".")}
    )


def compare_names(suite, names, results):
    """Failures for names without a result, and for results without a name. Both sides may have a name several times."""
    missing, surplus = Counter(names), Counter()
    for result in sorted(results, key=lambda result: result.outcome == "skip"):
        covered = Counter()
        if missing[result.name] > 0:
            covered = Counter([result.name])
        elif result.outcome == "skip":
            covered = covered_by(result, +missing, len(results) == 1)
        missing -= covered
        surplus += Counter() if covered else Counter([result.name])
    if missing:
        yield Result("FAIL", f"{suite}.names", f"{missing.total()} without a result: {some_of(missing)}")
    if surplus:
        yield Result("FAIL", f"{suite}.names", f"{surplus.total()} results that no name is known of: {some_of(surplus)}")


def strict_reports(suite, path):
    """A failure if a strict adapter has written reports to the file that are not in tests/lib/known-reports."""
    if not os.path.exists(path):
        return []
    known = [re.compile(line) for line in lines_of(os.path.join(LIB, "known-reports"))]
    with open(path, encoding="utf-8", errors="replace") as file:
        new = [line.rstrip("\n") for line in file if not any(pattern.search(line) for pattern in known)]
    if not new:
        return []
    return [Result("FAIL", f"{suite}.strict", f"{len(new)} reports of a strict adapter, see {path}: {new[0]}")]


def write_junit(path, suite, results):
    """The results as a JUnit file."""
    top = xml.Element("testsuite", name=suite, tests=str(len(results)))
    for result in results:
        case = xml.SubElement(top, "testcase", classname=suite, name=result.name)
        if result.outcome != "ok":
            kind = {"FAIL": "failure", "skip": "skipped"}[result.outcome]
            xml.SubElement(case, kind, message=NOT_XML.sub("?", result.reason))
    for outcome, count in (("FAIL", "failures"), ("skip", "skipped")):
        top.set(count, str(sum(result.outcome == outcome for result in results)))
    xml.ElementTree(top).write(path, encoding="utf-8", xml_declaration=True)


# --- ctest -------------------------------------------------------------------------------------------------------------


def ctest_tests(options):
    """Tests that ctest would run with these options: names, each with its labels."""
    said = subprocess.run(["ctest", *options, "--show-only=json-v1"], stdout=subprocess.PIPE, check=True).stdout
    tests = {}
    for test in json.loads(said)["tests"]:
        properties = {one["name"]: one["value"] for one in test.get("properties", [])}
        tests[test["name"]] = properties.get("LABELS", [])
    return tests


def reason_of(output):
    """The first line of a test's output that says what failed, or its last one."""
    lines = [line.strip() for line in (output or "").splitlines() if line.strip()]
    wrong = [line for line in lines if WRONG.search(line)]
    return (wrong[:1] or lines[-1:] or ["no output"])[0]


def result_of_case(case):
    """The result that a testcase of ctest's JUnit file is."""
    name, status, reason = case.get("name"), case.get("status"), reason_of(case.findtext("system-out"))
    if status == "run":
        return Result("ok", name)
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")):
        return Result("skip", name, reason)
    failure = case.find("failure")
    why = next((one.get("message") for one in (failure, skipped) if one is not None and one.get("message")), status)
    return Result("FAIL", name, f"{why}: {reason}" if case.findtext("system-out") else why)


def ctest_results(path, names):
    """Results of the tests of these names from ctest's JUnit file; a failure for each that has none."""
    cases = {}
    try:
        cases = {case.get("name"): result_of_case(case) for case in xml.parse(path).iter("testcase")}
    except (OSError, xml.ParseError) as error:
        yield Result("FAIL", "ctest", f"it has left no results: {error}")
    for name in names:
        yield cases.pop(name, None) or Result("FAIL", name, "ctest has not run it")
    for name in cases:
        yield Result("FAIL", name, "ctest did not list it before")
