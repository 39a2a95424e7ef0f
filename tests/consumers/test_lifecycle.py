# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How programs come to an end, and where they can run: killed peers, a killed adapter, an ordinary user, a chroot.

A death must reach the other side as an error in time; the adapter must serve the next program.
"""
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from harness import checks, ports
from harness.adapter import Spec
from harness.cases import Case, cases, named
from harness.checks import Failure
from harness.process import child_of, describe, is_refusal
from harness.settings import SOURCE

PACKETS = "/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_packets"
ON_THEIR_WAY = 1000  # packets that show that a pair is busy
FAULTS = ("link-down", "link-up", "lid-change", "pkey-change", "gid-change", "client-reregister")
EVENTS = ("PORT_ERR", "PORT_ACTIVE", "LID_CHANGE", "PKEY_CHANGE", "GID_CHANGE", "CLIENT_REREGISTER")
ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]


def libraries(settings):
    """Debian's libraries say nothing about a sanitized build of ours."""
    return ("ours",) if settings.sanitized else ("ours", "debian")


def kills(settings):
    for link in ("ib", "roce"):
        killed = [("client_killed", "client", "ours"), ("server_killed", "server", "ours")]
        if not settings.sanitized:
            killed.append(("client_killed.debian", "client", "debian"))
        for name, victim, libs in killed:
            yield Case(f"{link}.{name}", adapter=Spec(link), victim=victim, libs=libs)
            yield Case(f"{link}.{name}.adapter_serves_on", adapter=Spec(link), victim=None)


def ends(settings):
    for libs in libraries(settings):
        for number in (signal.SIGTERM, signal.SIGKILL):
            name = f"adapter_ends.{number.name[3:]}.{libs}"
            yield Case(name, libs=libs, signal=number, options="")
            yield Case(f"{name}.events", libs=libs, signal=number, options="-e")


def events_of_end(settings):
    for libs in libraries(settings):
        for number in (signal.SIGTERM, signal.SIGKILL):
            yield Case(f"event_of_end.{number.name[3:]}.{libs}", libs=libs, signal=number)


def chroots(settings):
    """The sanitizers need /proc, which is not there."""
    return [] if settings.sanitized else [Case(f"chroot.{origin}", adapter=Spec("ib"), origin=origin) for origin in ("ours", "debian")]


@pytest.fixture
def own_adapter(rig, work):
    """An adapter for one case, which may kill it."""
    (work / "own").mkdir()
    adapter = rig.adapters.start(Spec("ib"), work / "own")
    yield adapter
    adapter.stop()


class BusyPair:
    """A server and its client that run until they are stopped, on an adapter, until messages are on their way."""

    def __init__(self, launcher, adapter, line, port):
        self.launcher, self.adapter = launcher, adapter
        before = self.packets()
        line = [*line, "-p", str(port)]
        self.server = launcher.start(adapter.on(line), "server")
        launcher.wait_until(lambda: ports.listens(port), self.server)
        self.client = launcher.start(adapter.on([*line, "127.0.0.1"]), "client")
        # The programs themselves print when they end.
        busy = launcher.wait_until(lambda: self.packets() > before + ON_THEIR_WAY, self.client)
        if not busy or self.server.is_gone() or self.client.is_gone():
            raise Failure("the programs did not start")

    def packets(self):
        """How many the adapter's port has received so far."""
        process, status = self.launcher.run(self.adapter.on(["cat", PACKETS]), "packets", breaks=False)
        if status:
            raise Failure(f"the adapter's counter: {describe(status)}")
        return int(process.text())


# --- a peer that dies ----------------------------------------------------------------------------------------------------------------


def kill_one(case, launcher, adapter, programs, port):
    """Kills one side of two that both send all the time: the other has requests that nobody answers, and must end with the transport's
    error. (One that only waits to receive would rightly go on waiting.)
    """
    pair = BusyPair(launcher, adapter, programs.debian(case.libs, "ib_send_bw -F -b -D 60 -s 4096"), port)
    victim, survivor = (pair.client, pair.server) if case.victim == "client" else (pair.server, pair.client)
    os.kill(child_of(victim, "ib_send_bw"), signal.SIGKILL)
    if victim.wait(launcher.limit) not in (-signal.SIGKILL, 128 + signal.SIGKILL):
        raise Failure(f"the victim ended with {describe(victim.popen.returncode)}")
    status = survivor.wait(launcher.limit)
    # Retries exceeded, or a receive flushed because of it
    if not is_refusal(status) or not re.search(r"Failed status (12|5):", survivor.text()):
        raise Failure(f"the other side ended with {describe(status, launcher.limit)}, and no error completion")


def serve_on(adapter, programs, pair, port):
    """A short pingpong after a death."""
    gid = "" if adapter.link == "ib" else "-g 0"
    line = programs.line("ours", "ours", "ibv_rc_pingpong", f"-c -n 200 {gid} -p {port}")
    pair.check(checks.pingpong, port, line, line)


@cases(kills)
def test_killed(case, launcher, adapter, programs, pair, port):
    if case.victim:
        kill_one(case, launcher, adapter, programs, port)
    else:
        serve_on(adapter, programs, pair, port)


# --- an adapter that dies --------------------------------------------------------------------------------------------------------------


@cases(ends)
def test_adapter_ends(case, launcher, own_adapter, programs, port):
    """Both programs end by themselves, with the error that they meet first."""
    line = programs.line("ours", case.libs, "ibv_rc_pingpong", f"{case.options} -n 100000000 -s 1024")
    pair = BusyPair(launcher, own_adapter, line, port)
    own_adapter.process.signal(case.signal)
    for side in (pair.server, pair.client):
        status = side.wait(launcher.limit)
        if not is_refusal(status):
            raise Failure(f"the {side.log.stem} ended with {describe(status, launcher.limit)}")
        if not re.search("fail|error|couldn't", side.text(), re.IGNORECASE):
            raise Failure(f"the {side.log.stem} does not say why it ended")


def watch(launcher, adapter, programs, libs):
    """A program that waits for events, and prints them at once."""
    watcher = launcher.start(adapter.on(["stdbuf", "-oL", *programs.debian(libs, "ibv_asyncwatch")]), "watcher")
    if not launcher.wait_until(watcher.says("async event FD"), watcher):
        raise Failure("ibv_asyncwatch does not start")
    return watcher


@cases(events_of_end)
def test_event_of_end(case, launcher, own_adapter, programs):
    """A program that waits for events hears that the device is gone, once, and ends by itself."""
    watcher = watch(launcher, own_adapter, programs, case.libs)
    own_adapter.process.signal(case.signal)
    status = watcher.wait(launcher.limit)
    events = re.findall(r"event_type \S+", watcher.text())
    if events != ["event_type IBV_EVENT_DEVICE_FATAL"] or not is_refusal(status):
        raise Failure(f"the events are {events}; {describe(status, launcher.limit)}")


@cases(lambda settings: [Case(f"port_events.{libs}", libs=libs) for libs in libraries(settings)])
def test_port_events(case, launcher, own_adapter, programs):
    """What happens to a port reaches a program that waits for events, in that order."""
    watcher = watch(launcher, own_adapter, programs, case.libs)
    for fault in FAULTS:
        process, status = launcher.run(own_adapter.fault(fault), f"fault-{fault}")
        if status:
            raise Failure(f"softhca fault {fault}: {describe(status)}")
    launcher.wait_until(lambda: watcher.text().count("event_type") >= len(FAULTS), watcher)
    events = re.findall(r"event_type IBV_EVENT_(\w+) ", watcher.text())
    if events != list(EVENTS):
        raise Failure(f"the events are {' '.join(events)}")


def tree_of(adapter):
    """The directory that the adapter has in memory."""
    for file in Path(f"/proc/{adapter.process.pid}/fd").iterdir():
        found = re.match(r"/.*/softhca-[A-Za-z0-9]*", os.readlink(file))
        if found and Path(found[0]).is_dir():
            return Path(found[0])
    raise Failure("the adapter's directory is not known")


@named("leftovers")
def test_leftovers(settings, launcher, own_adapter):
    """What a killed adapter leaves in memory is removed by the next that starts, and by no other's leaving or living."""
    tree = tree_of(own_adapter)

    def start_another():
        process, status = launcher.run([settings.softhca, "run", "--", "echo", "done"], "another")
        if status or process.text() != "done\n":
            raise Failure(f"another adapter: {describe(status)}")

    start_another()
    if not (tree / "sys").is_dir():
        raise Failure(f"another adapter removed {tree} of a living one")
    own_adapter.process.kill()
    if not tree.is_dir():
        raise Failure(f"{tree} went with the adapter that was killed")
    start_another()
    if tree.exists():
        raise Failure(f"{tree} is still there")


# --- where programs run ------------------------------------------------------------------------------------------------------------------


@named("ordinary_user")
def test_ordinary_user(settings, launcher, programs, port, work):
    """Adapter and programs without any privilege."""
    user = []  # without root, every other case runs so
    pair = SOURCE / "scripts" / "pair"
    if os.getuid() == 0:
        user = ORDINARY
        os.chown(work, 65534, 65534)
        if subprocess.run([*user, "test", "-x", settings.softhca, "-a", "-x", pair]).returncode:
            pytest.skip(f"an ordinary user cannot reach {settings.build}")
    line = [programs.path("ours", "ibv_rc_pingpong"), "-c", "-n", "500", "-p", str(port)]
    host = [settings.softhca, "run", "--", *programs.with_libs("ours", "ours")]
    command = [*user, *host, pair, "-o", work, port, " ".join(line), " ".join([*line, "127.0.0.1"])]
    _, status = launcher.run(command, "run", cwd="/")
    if status:
        raise Failure(describe(status, launcher.limit))
    logs = [work / f"{side}.log" for side in ("server", "client")]
    if not all(log.exists() for log in logs):
        raise Failure("the pair did not run")
    reason = checks.pingpong(*(log.read_text() for log in logs), line)
    if reason:
        raise Failure(reason)


def copy_with_libraries(root, files, environment):
    """Copies the files and the shared objects that they need to the same places below ROOT."""
    needed = subprocess.run(["ldd", *files], env=environment, capture_output=True, text=True, check=True).stdout
    for file in {*map(str, files), *re.findall(r"/[^ :)\n]+", needed)}:
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(file), target)


@cases(chroots)
def test_chroot(case, settings, programs, pair, port, work):
    """A root directory with nothing in it but a program and its libraries."""
    if os.getuid() != 0:
        pytest.skip("only root may call chroot")
    root = work / "root"
    (root / "dev").mkdir(parents=True)
    libraries, configuration, environment = Path("/usr/lib"), Path("/etc/libibverbs.d"), dict(os.environ)
    if case.origin == "ours":
        libraries, configuration = settings.stage, settings.stage / "etc"
        environment["LD_LIBRARY_PATH"] = str(settings.libdir)
    plugin = next(file for file in sorted(libraries.rglob("libmlx5*")) if "libibverbs" in str(file))
    copy_with_libraries(root, [programs.path(case.origin, "ibv_rc_pingpong"), "/usr/bin/env", plugin], environment)
    shutil.copytree(configuration, root / str(configuration).lstrip("/"))
    line = ["chroot", str(root), *programs.line(case.origin, case.origin, "ibv_rc_pingpong", f"-c -n 500 -p {port}")]
    pair.check(checks.pingpong, port, line, line)
