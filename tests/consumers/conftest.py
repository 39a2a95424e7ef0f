# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""pytest's side of the consumer tests: options, fixtures, the order of the cases, and a line for each result.

    /usr/bin/python3 -m pytest tests/consumers/test_crosswise.py --build build-gcc --quick -k roce.pingpong.poll

A test takes its cases from a table (harness/cases.py). Cases of a module that need the same adapter run one after the other;
before the first of them two cases check which libraries programs load, and behind the last one a case checks how the adapter
ends. The exit status is 0 when each case has a result and none failed.
"""
import re
import shutil
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import pytest  # noqa: E402

from harness import libraries  # noqa: E402
from harness.adapter import Adapters  # noqa: E402
from harness.cases import Case, cases_of  # noqa: E402
from harness.checks import Failure  # noqa: E402
from harness.network import Network  # noqa: E402
from harness.pairs import Pair  # noqa: E402
from harness.ports import free_port  # noqa: E402
from harness.process import Launcher  # noqa: E402
from harness.programs import Programs  # noqa: E402
from harness.results import Results, reason_of, say  # noqa: E402
from harness.settings import Settings, add_options  # noqa: E402


class Rig:
    """What the cases of a run share."""

    def __init__(self, settings):
        self.settings = settings
        self.programs = Programs(settings)
        self.network = Network()
        self.adapters = Adapters(settings, self.network)
        self.results = Results()
        self.failures, self.skips = {}, {}  # reasons, of cases by their node's id
        self.work = None  # directory of the case at hand

    def begin_case(self, case):
        """The launcher of a case, with an empty directory."""
        self.work = self.settings.work / "case"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        return Launcher(self.settings, self.work, self.settings.limit_of(case))

    def logs(self):
        """The logs to show for a case that failed."""
        logs = sorted(self.work.rglob("*.log")) if self.work and self.work.exists() else []
        return logs + ([self.adapters.current.log] if self.adapters.current else [])

    def enter_network(self, item):
        """Enters a network namespace, if the module of ITEM wants one for this kind of adapter; skips if that is impossible."""
        if self.settings.device == "mlx4" and item.get_closest_marker("own_network"):
            refused = self.network.enter(self.settings.start_limit)
            if refused:
                pytest.skip(refused)

    def close(self):
        self.adapters.discard()
        self.settings.remove_work()


# --- options -----------------------------------------------------------------------------------------------------------------


def pytest_addoption(parser):
    add_options(parser)


def interrupt(number, _frame):
    raise KeyboardInterrupt(f"signal {number}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
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


class RigItem(pytest.Item):
    """A case that the harness adds to a module: it has no function."""

    def __init__(self, *, spec, rig, **options):
        super().__init__(**options)
        self.spec, self.rig = spec, rig

    def setup(self):
        self.rig.enter_network(self)

    def teardown(self):
        self.rig.work = None


class LibrariesItem(RigItem):
    """Programs load the libraries that they should: name "libraries.ours" or "libraries.debian"."""

    def runtest(self):
        rig = self.rig
        adapter = rig.adapters.get(self.spec)
        launcher = rig.begin_case(Case(self.name))
        try:
            libraries.check(launcher, adapter, rig.programs, rig.settings, self.name.partition(".")[2])
        finally:
            launcher.close()


class AdapterItem(RigItem):
    """The adapter of a group of cases ends well: name "adapter.LINK"."""

    def runtest(self):
        self.rig.adapters.conclude(self.spec)


def pytest_generate_tests(metafunc):
    table = cases_of(metafunc.function, metafunc.config.rig.settings)
    metafunc.parametrize("case", table, ids=[case.name for case in table])


def case_of(item):
    """The case of an item; None if its table is empty."""
    case = item.callspec.params["case"]
    return case if isinstance(case, Case) else None


def name_of(item):
    """The name of an item's result."""
    name = item.name if isinstance(item, RigItem) else case_of(item).name
    return item.config.rig.settings.prefix + name


def first_of_each(items):
    """The first case of each test function."""
    firsts = {}
    for item in items:
        firsts.setdefault((item.getparent(pytest.Module), item.originalname), item)
    return list(firsts.values())


def by_adapter(items):
    """The items of each module, as lists that share an adapter: (module, adapter or None, items)."""
    groups = {}
    for item in items:
        groups.setdefault((item.getparent(pytest.Module), case_of(item).adapter), []).append(item)
    modules = list(dict.fromkeys(module for module, _ in groups))
    return [(module, spec, groups[owner, spec]) for module in modules for owner, spec in groups if owner is module]


def arranged(items, rig):
    """The items in their order, with those that the harness adds."""
    seen = set()
    for module, spec, group in by_adapter(items):
        if spec and module not in seen and not spec.device:
            seen.add(module)
            for name in ("libraries.ours", "libraries.debian"):
                yield LibrariesItem.from_parent(module, name=name, spec=spec, rig=rig)
        yield from group
        if spec and not rig.settings.broken:
            yield AdapterItem.from_parent(module, name=spec.name(), spec=spec, rig=rig)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    rig = config.rig
    chosen = [item for item in items if case_of(item) and re.search(rig.settings.only, case_of(item).name)]
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
        rig.results.fail(item.nodeid, name_of(item), rig.failures[item.nodeid])
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
