# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every test of this directory fails when its programs are broken on purpose (--break): replaced by one that crashes, prints nothing,
or hangs. One case of each test function shows it. Every module meets a program that prints nothing, every sixth one also a program
that crashes, and every sixth one that hangs; with --all each module meets all three, in the quick form only the first.

A test that fails for a mistake of its own says nothing, so the reasons are looked at, too.
"""
import re
import sys

import pytest

from harness.cases import Case, cases
from harness.checks import Failure
from harness.settings import BREAKS, CONSUMERS

MISTAKE = re.compile(r" - ((Name|Type|Attribute|Import|Syntax|FixtureLookup)Error|gave no result|cannot be collected)")
FETCHING = ("test_newer",)  # fetch what their programs run in: with --all
LIMIT = 900  # seconds for a module: with a program that hangs each of its cases takes some


def kinds_of(position, settings):
    """How the programs of the module at this position are broken."""
    if settings.all:
        return BREAKS
    more = {} if settings.quick else {0: ("crash",), 3: ("hang",)}
    return ("silent",) + more.get(position % 6, ())


def breaks(settings):
    if settings.broken:
        return
    for position, module in enumerate(sorted(CONSUMERS.glob("test_*.py"))):
        if module.stem != "test_breaks" and (settings.all or module.stem not in FETCHING):
            for kind in kinds_of(position, settings):
                yield Case(f"breaks.{module.stem[5:]}.{kind}", module=module, kind=kind, limit=LIMIT)


@cases(breaks)
def test_every_case_fails(case, settings, launcher):
    line = [sys.executable, "-B", "-m", "pytest", case.module, "--build", settings.build, "--break", case.kind]
    process, status = launcher.run(line, "pytest", breaks=False)
    results = re.findall(r"^(?:ok|FAIL|skip) .*", process.text(), re.MULTILINE)
    for result in results:
        if result.startswith("ok ") or MISTAKE.search(result):
            raise Failure(f"not noticed, or for a mistake: {result}")
    if results and all(result.startswith("skip ") for result in results):
        pytest.skip(results[0].partition(" - ")[2])
    if status != 1 or not results:
        raise Failure(f"pytest ended with status {status} after {len(results)} results")
