# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tests that Debian's python3-pyverbs ships, on Debian's libraries and on ours.

Each test that exists has one outcome, or the case fails. What is skipped or fails stands with its reason in a list of pyverbs/, and
the lists have a count of the tests that a line is for, so that one more or one less is seen:

skips   skipped: on an adapter of mlx5 on either libraries, on one of mlx4 (skips-mlx4) on ours, as Debian's libmlx4 has less
known   fails on Debian's libraries
ours    passes on Debian's libraries and not on ours

A line has a pattern of names, with "LINK:" in front if it is for one link layer; the count, or "?" if it depends on the machine or
on chance; the reason. The adapter goes by the host's loopback interface; the tests of rdma_cm take the address of its first port.
"""
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from harness import crypto
from harness.adapter import Spec
from harness.cases import Case, cases
from harness.checks import Failure
from harness.libraries import fault
from harness.process import TIMED_OUT, describe
from harness.settings import CONSUMERS

pytestmark = pytest.mark.own_network

LISTS = CONSUMERS / "pyverbs"
INSTALLED = Path("/usr/share/doc/rdma-core/tests")
LIMIT = 900  # seconds for a run of all tests
STARTS = 5  # a test that ends its process leaves the rest to the next one
WORST_FIRST = ("failed", "passed", "skipped")
FEWEST = 250  # tests; Debian 12 ships 273


def table(settings):
    """The short form is RoCE, whose tests are a few more."""
    for link in ("roce",) if settings.quick else ("ib", "roce"):
        for libs in ("debian", "ours"):
            yield Case(f"{link}.{libs}.pyverbs", link=link, libs=libs, limit=LIMIT)


# --- the lists ---------------------------------------------------------------------------------------------------------------------


class Line:
    """A line of a list: the tests that it is for, how many there are, and why."""

    def __init__(self, pattern, count, reason):
        self.text, self.reason = pattern, reason
        self.link, _, name = pattern.rpartition(":")
        self.pattern = re.compile(name)
        self.count = None if count == "?" else int(count)


def lines_of(settings, name, link):
    """The lines of a list for that link layer; an adapter of mlx4 has lists of its own."""
    path = LISTS / (name if settings.device == "mlx5" else f"{name}-{settings.device}")
    texts = path.read_text().splitlines() if path.exists() else []
    lines = [Line(*text.split(None, 2)) for text in texts if text and not text.startswith("#")]
    return [line for line in lines if line.link in ("", link)]


def differences(lines, tests, name, is_exact=True):
    """Tests that no line of the list is for, and lines for more or fewer tests, if all that they are for are known."""
    seen = Counter()
    for test, outcome in tests.items():
        line = next((line for line in lines if line.pattern.fullmatch(test)), None)
        seen[line] += 1
        if not line:
            yield f"{test}: {outcome}, and not in the list {name}"
    for line in lines:
        if is_exact and line.count not in (None, seen[line]):
            yield f"the list {name} has {line.count} tests of {line.text}, and there are {seen[line]}"


# --- what ran ------------------------------------------------------------------------------------------------------------------------


class Outcomes:
    """The lines that pyverbs/run.py has written."""

    def __init__(self, path):
        lines = [text.split(None, 2) for text in path.read_text().splitlines()] if path.exists() else []
        self.exist = [words[1] for words in lines if words[0] == "exists"]
        self.libraries = {words[1] for words in lines if words[0] == "library"}
        self.of = {}
        for outcome in reversed(WORST_FIRST):  # a failure weighs more than what else was said of the test
            self.of.update({words[1]: " ".join([outcome, *words[2:]]) for words in lines if words[0] == outcome})

    def with_outcome(self, outcome):
        return {test: text for test, text in self.of.items() if text.split()[0] == outcome}

    def counts(self, prefix=""):
        return ", ".join(f"{sum(test.startswith(prefix) for test in self.with_outcome(outcome))} {outcome}"
                         for outcome in ("passed", "skipped", "failed"))  # fmt: skip

    def show(self):
        print(f"{self.counts()}; of direct verbs {self.counts('test_mlx5_')}\nreasons for skips:")
        reasons = Counter(text.partition(" ")[2] for text in self.with_outcome("skipped").values())
        print("\n".join(f"{count:5} {reason}" for reason, count in reasons.most_common()), flush=True)


def defined(tests):
    """The tests that the files define: (file, method)."""
    for file in sorted(tests.glob("test_*.py")):
        for method in re.findall(r"^    def (test_\w+)\(", file.read_text(), re.MULTILINE):
            yield file.stem, method


def gaps(outcomes, tests):
    """Tests that are in the files and that unittest has not found, and those without an outcome."""
    exist = {(name.partition(".")[0], name.rpartition(".")[2]) for name in outcomes.exist}
    for file, method in defined(tests):
        if (file, method) not in exist:
            yield f"{file}.{method}: not found by unittest"
    for test in outcomes.exist:
        if test not in outcomes.of:
            yield f"{test}: no outcome"
    if len(outcomes.exist) < FEWEST:
        yield f"{len(outcomes.exist)} tests, and not {FEWEST}"


class Run:
    """All tests on the libraries of a case."""

    def __init__(self, case, rig, launcher, tests, work):
        self.case, self.rig, self.launcher, self.tests, self.work = case, rig, launcher, tests, work
        self.path = work / "lines"
        self.crypto = {}

    def all(self):
        """Tests of encryption are for an adapter that takes keys wrapped, or for one that does not: those that the one skips, the
        other runs.
        """
        device = self.rig.settings.device
        lag = ["--lag", "2"] if device == "mlx5" else []  # ports that are bonded
        self.rest(*lag)
        if device == "mlx5":
            lines = self.path.read_text().splitlines(keepends=True)
            keep = [line for line in lines if re.match("(exists|passed|failed) ", line) or " test_mlx5_crypto." not in line]
            self.path.write_text("".join(keep))
            self.rest(*lag, "--crypto", str(self.work / "secrets"))
        return Outcomes(self.path)

    def rest(self, *options):
        """Runs the tests that have not started yet on an adapter of their own, which must end well."""
        interface = self.rig.network.netdev() if self.case.link == "roce" else []
        options = (*(interface or ["--netdev", "lo"]), *options)
        where = self.work / f"adapter{len(options)}"
        where.mkdir()
        adapter = self.rig.adapters.start(Spec(self.case.link, options), where)
        try:
            for start in range(STARTS):
                process, status = self.launcher.run(adapter.on(self.line()), f"run{len(options)}-{start}", env=self.environment())
                if not status and self.path.exists():
                    break
                self.blame(process, status)
            adapter.check_and_stop()
        finally:
            adapter.stop()

    def line(self):
        gid = 0 if self.case.link == "ib" else 3  # else each test asks for the interface's addresses once for every GID
        options = f"--dev {self.rig.settings.device}_0 --port 1 --gid {gid}"
        command = ["/usr/bin/python3", LISTS / "run.py", self.tests, self.path]
        return self.rig.programs.debian(self.case.libs, command, options)

    def environment(self):
        """The environment of the tests, which makes what those of encryption have to know."""
        details = self.work / "crypto.json"
        if not details.exists():
            crypto.write(details, self.work / "secrets")
        return dict(os.environ, MLX5_CRYPTO_TEST_INFO=str(details))

    def blame(self, process, status):
        """The last line is of a test that has ended its process, or went on for too long, or has left behind what did."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        if not lines or not re.match("started|passed|skipped|failed", lines[-1]):
            last = process.text().strip().splitlines()[-1:] or [describe(status, self.launcher.limit)]
            raise Failure(f"no test ran: {last[0]}")
        with open(self.path, "a", encoding="utf-8") as file:
            print(f"failed {lines[-1].split()[1]} the process ended with {describe(status)}", file=file)
        if status == TIMED_OUT:
            raise Failure(f"{lines[-1].split()[1]}: {describe(status, self.launcher.limit)}")


# --- the cases -------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tests(request):
    """The directory of the tests: from where the package has them, or from the package where documentation is not installed."""
    where = request.config.rig.settings.work / "pyverbs"
    where.mkdir()
    source = INSTALLED
    if not source.is_dir():
        subprocess.run(["apt-get", "-o", "Acquire::Retries=5", "download", "python3-pyverbs"], cwd=where, check=True)
        subprocess.run(["dpkg-deb", "-x", str(next(where.glob("*.deb"))), "package"], cwd=where, check=True)
        source = where / "package" / str(INSTALLED).lstrip("/")
    shutil.copytree(source, where / "tests")
    subprocess.run(["gunzip", "-f", *map(str, (where / "tests").glob("*.gz"))], check=True)
    return where / "tests"


@pytest.fixture(scope="module")
def debians():
    """The outcomes on Debian's libraries, of each link layer that ran on them."""
    return {}


def faults_of_debian(settings, link, outcomes):
    """What fails on Debian's libraries is known; what they skip, too, but for those of mlx4."""
    yield from differences(lines_of(settings, "known", link), outcomes.with_outcome("failed"), "known")
    if settings.device == "mlx5":
        yield from differences(lines_of(settings, "skips", link), outcomes.with_outcome("skipped"), "skips")


def faults_of_ours(settings, link, outcomes, debian):
    """What passes on Debian's libraries passes on ours, and what fails on ours fails there. Without DEBIAN only what fails is seen."""
    passed, failed = (set(debian.with_outcome(outcome)) if debian else set() for outcome in ("passed", "failed"))
    worse = {test: text for test, text in outcomes.of.items()
             if not text.startswith("passed") and test in passed or text.startswith("failed") and test not in failed}  # fmt: skip
    skipped = {test: text for test, text in outcomes.with_outcome("skipped").items() if test not in worse}
    yield from differences(lines_of(settings, "ours", link), worse, "ours", bool(debian))
    yield from differences(lines_of(settings, "skips", link), skipped, "skips", bool(debian))
    if debian and debian.exist != outcomes.exist:
        yield f"{len(outcomes.exist)} tests exist, and {len(debian.exist)} on Debian's libraries"


@cases(table)
def test_pyverbs(case, rig, request, settings, launcher, work, debians, tests):
    if subprocess.run(["/usr/bin/python3", "-c", "import pyverbs.device"], capture_output=True).returncode:
        pytest.skip("there is no python3-pyverbs")
    rig.enter_network(request.node)
    outcomes = Run(case, rig, launcher, tests, work).all()
    outcomes.show()
    faults = list(gaps(outcomes, tests))
    reason = fault(outcomes.libraries, settings, case.libs)
    faults += [reason] if reason else []
    if case.libs == "debian":
        debians[case.link] = outcomes
        faults += faults_of_debian(settings, case.link, outcomes)
    else:
        faults += faults_of_ours(settings, case.link, outcomes, debians.get(case.link))
    print("\n".join(faults), flush=True)
    if faults:
        raise Failure(f"{len(faults)} faults: {'; '.join(faults[:3])}")
