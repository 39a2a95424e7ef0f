# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""pytest's side of the consumer tests: options, collection, a line for each result, and the fixtures.

    /usr/bin/python3 -m pytest tests/consumers/test_crosswise.py --build build-gcc --quick -k roce.pingpong.poll

A test takes its cases from a table (harness/cases.py); harness/items.py has their order. The exit status is 0 when each case has a
result and none failed.
"""
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from harness import lossy
from harness.cases import cases_of
from harness.checks import Failure
from harness.items import arranged, case_of, first_of_each, name_of
from harness.pairs import Pair
from harness.ports import free_port
from harness.results import reason_of, say
from harness.rig import Rig
from harness.settings import SOURCE, Settings, add_options

# --- options -----------------------------------------------------------------------------------------------------------------


def pytest_addoption(parser):
    add_options(parser)


def interrupt(number, _frame):
    raise KeyboardInterrupt(f"signal {number}")


def see_programs():
    """Begins this run again where it sees other people's programs, unless it does already."""
    if "RDMAKIT_PROGRAMS_SEEN" not in os.environ:
        seeing = str(SOURCE / "tests" / "lib" / "with-programs")
        os.execv(seeing, [seeing, sys.executable, "-B", "-m", "pytest", *sys.argv[1:]])


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if not config.getoption("list_names"):
        see_programs()
    config.addinivalue_line("markers", "own_network: adapters of mlx4 have an interface in a network namespace")
    try:
        config.rig = Rig(Settings(config))
    except ValueError as wrong:
        raise pytest.UsageError(str(wrong)) from wrong
    if config.getoption("list_names"):
        config.option.collectonly = True
    config.pluginmanager.unregister(name="terminalreporter")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


# --- collection --------------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc):
    table = cases_of(metafunc.function, metafunc.config.rig.settings)
    metafunc.parametrize("case", table, ids=[case.name for case in table])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    rig = config.rig
    chosen = [item for item in items if case_of(item) and re.search(rig.settings.only, case_of(item).name)]
    if rig.settings.faults:
        items[:] = []
        chosen = lossy.select(chosen, not rig.settings.only)
    if rig.settings.broken and not rig.settings.all:
        chosen = first_of_each(chosen)
    items[:] = list(arranged(chosen, rig))


def pytest_collection_finish(session):
    rig = session.config.rig
    names = [f"{item.getparent(pytest.Module).name}: {name_of(item)}" for item in session.items]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise pytest.UsageError(f"names of several cases: {' '.join(twice)}")
    rig.results.expect(item.nodeid for item in session.items)
    if session.config.getoption("collectonly"):
        for item in session.items:
            say(name_of(item))
    else:
        rig.settings.make_work()


def pytest_collectreport(report):
    if report.failed:
        say(report.longreprtext)
        say(f"FAIL {Path(report.nodeid).stem} - cannot be collected")


# --- results -----------------------------------------------------------------------------------------------------------------


def note_failure(item, failure, report):
    """Keeps the reason, and shows what there is to see while it is there."""
    rig = item.config.rig
    rig.failures.setdefault(item.nodeid, reason_of(failure))
    if not isinstance(failure, Failure):
        say(report.longreprtext)
    rig.results.show(name_of(item), [*getattr(failure, "files", ()), *rig.logs()])


def conclude(item):
    """Prints the result of a case. The next one meets another adapter, if this one failed."""
    rig = item.config.rig
    if item.nodeid in rig.failures:
        rig.results.fail(item.nodeid, name_of(item), rig.failures[item.nodeid] + rig.adapters.death())
        rig.adapters.discard()
    elif item.nodeid in rig.skips:
        rig.results.skip(item.nodeid, name_of(item), rig.skips[item.nodeid])
    else:
        rig.results.ok(item.nodeid, name_of(item))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        note_failure(item, call.excinfo.value, report)
    elif report.skipped:
        item.config.rig.skips[item.nodeid] = str(call.excinfo.value)
    if report.when == "teardown":
        conclude(item)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    rig = session.config.rig
    if session.config.getoption("collectonly"):
        return
    rig.close()
    if exitstatus == pytest.ExitCode.INTERRUPTED:
        say(f"interrupted: {len(rig.results.missing)} cases gave no result")
    elif not session.shouldfail:
        rig.results.fail_missing()
    if rig.results.failed and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


# --- fixtures ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def rig(request):
    return request.config.rig


@pytest.fixture
def settings(rig):
    return rig.settings


@pytest.fixture
def programs(rig):
    """Command lines: programs.line(origin, libs, name, options)."""
    return rig.programs


@pytest.fixture
def launcher(rig, case):
    """Starts the programs of the case; kills what is left of them."""
    launcher = rig.begin_case(case)
    yield launcher
    launcher.close()
    shutil.rmtree(rig.work, ignore_errors=True)
    rig.work = None


@pytest.fixture
def work(launcher):
    """The directory of the case; its *.log are shown if the case fails."""
    return launcher.work


@pytest.fixture
def adapter(rig, case, request):
    """The adapter that the case asks for, shared with other cases."""
    rig.enter_network(request.node)
    return rig.adapters.get(case.adapter)


@pytest.fixture
def port():
    """A TCP port that nobody uses."""
    return free_port()


@pytest.fixture
def pair(launcher, adapter):
    """Runs a server and its client on the adapter."""
    return Pair(launcher, adapter)


@pytest.fixture
def on(case, adapter, programs, settings):
    """The command line that runs a program of Debian's on the adapter, on the libraries of the case.

    UCX takes the kind of a datagram's header from the service level, where only mlx5 says it: RoCE v2 of IPv4 is beyond it elsewhere.
    """
    gid = ["env", "UCX_IB_GID_INDEX=2"] if settings.device == "mlx4" and adapter.link == "roce" else []
    return lambda *line: adapter.on(programs.debian(case.libs, gid, *line))
