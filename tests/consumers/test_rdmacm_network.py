# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's rdma_cm programs between the adapters of two processes on one network, on our libraries and on Debian's: every
message is a packet, and tshark decodes them.

The server is on the adapter that the cases share, the client on a second one, whose packets are written down.
"""
import os
import re
import signal
import subprocess
import time

import pytest

from harness import checks, counters
from harness.adapter import Spec
from harness.capture import merged, tshark
from harness.cases import Case, cases, named, rows
from harness.checks import Failure
from harness.cm import Session, judge
from harness.pairs import Pair
from harness.process import child_of, describe, is_refusal

# NAME | SERVER | CLIENT; the hosts have the addresses 198.18.0.1 and 198.18.1.1.
PROGRAMS = """
rping       | rping -s -V -v -C 20        | rping -c -V -v -C 20 -a 198.18.0.1
ucmatose    | ucmatose -c 50 -C 5 -S 100  | ucmatose -c 50 -C 5 -S 100 -s 198.18.0.1
udaddy      | udaddy -c 4                 | udaddy -c 4 -s 198.18.0.1
rdma_server | rdma_server                 | rdma_client -s 198.18.0.1
xrc         | rdma_xserver -c x           | rdma_xclient -c x -s 198.18.0.1
mckey       | mckey -m 224.1.2.3 -C 4 -b 198.18.0.1 | mckey -s -m 224.1.2.3 -C 4 -b 198.18.1.1
"""
ON_DEBIAN = ("rping", "udaddy", "xrc")  # on Debian's libraries as well
PING = "rping -s -V -v -C 20", "rping -c -V -v -C 20 -a 198.18.0.1"
MANY_PINGS = "rping -s -V -v -C 100", "rping -c -V -v -C 100 -a 198.18.0.1"
# With --all only: the server listens twice, and in between nobody does. On a busy machine a client may come just then.
PERFTEST = "ib_send_lat -F -R -n 100"
MESSAGES = ("ConnectRequest", "ConnectReply", "ReadyToUse", "DisconnectRequest", "DisconnectReply")
# An rsocket asks for the address of a host that is not there yet, again and again for 15 seconds.
LATE_S = 9


def case_of(link, name, **fields):
    return Case(f"{link}.rdmacm-network.{name}", adapter=Spec(link, ("--verbose", "--network", "WORK/network")), **fields)


def on_links(name, is_run=lambda settings, link: True, **fields):
    """A table of one case on each link layer."""

    def table(settings):
        return [case_of(link, name, **fields) for link in ("ib", "roce") if is_run(settings, link)]

    return cases(table)


def is_long(settings, _link):
    return not settings.quick


def table(settings):
    for link in ("ib", "roce"):
        for name, server, client in rows(PROGRAMS):
            yield case_of(link, f"{name}.ours", lines=(server, client), libs="ours")
            # Debian on Debian says nothing about a sanitized build of ours.
            if name in ON_DEBIAN and not settings.quick and not settings.sanitized:
                yield case_of(link, f"{name}.debian", lines=(server, client), libs="debian")


class Second:
    """The second adapter of the network: starts when it is asked for, writes its packets down, and is judged at its end."""

    captures = {}  # of each link layer, all that were written

    def __init__(self, rig, adapter, work):
        self.rig, self.link, self.adapter = rig, adapter.link, None
        self.network = rig.settings.work / "network"
        self.where = work / "second"
        self.where.mkdir()

    def start(self, *options):
        files = self.captures.setdefault(self.link, [])
        files.append(self.rig.settings.work / f"{self.link}-{len(files)}.pcap")
        options = ("--verbose", "--network", str(self.network), "--pcap", str(files[-1]), *options)
        self.adapter = self.rig.adapters.start(Spec(self.link, options), self.where)
        return self.adapter

    def conclude(self):
        adapter, self.adapter = self.adapter, None
        adapter.check_and_stop()


@pytest.fixture
def second(rig, adapter, work):
    second = Second(rig, adapter, work)
    yield second
    if second.adapter:
        second.adapter.stop()


def run(case, launcher, programs, server, client, adapters):
    """A server on the first adapter and a client on the second."""
    lines = [programs.debian(case.libs, line) for line in (server, client)]
    Session(launcher, *adapters).run(*lines, ("debian", "debian"))


@cases(table)
def test_program(case, launcher, adapter, programs, second):
    run(case, launcher, programs, *case.lines, (adapter, second.start()))
    second.conclude()


@on_links("perftest_lat.ours", lambda settings, link: settings.all)
def test_perftest(launcher, adapter, programs, second):
    pair = Pair(launcher, adapter)
    server = programs.debian("ours", PERFTEST)
    client = [*server, "198.18.0.1"]
    pair.judge(pair.by_cm(adapter.on(server), second.start().on(client)), checks.perftest, client)
    second.conclude()


@on_links("late_host", lambda settings, link: not settings.quick or link == "roce")
def test_host_that_comes_late(rig, launcher, adapter, programs, second, work):
    """A program finds a host that joins while it is asked for. Nobody listens there, which the host's answer tells."""
    client = launcher.start(second.start().on(programs.line("ours", "ours", "rstream", "-s", "198.18.2.1")), "client")
    time.sleep(LATE_S)
    (work / "third").mkdir()
    third = rig.adapters.start(Spec(adapter.link, ("--network", str(second.network))), work / "third")
    status = client.wait(launcher.limit)
    third.check_and_stop()
    if not is_refusal(status) or "connect: Connection refused" not in client.text():
        raise Failure(f"the host was not found: {describe(status)}")
    second.conclude()


@on_links("capture", libs="ours")
def test_capture(case, launcher, adapter, programs, second, work):
    """Each kind of message is in the captures of all cases so far, and Wireshark has nothing to complain of."""
    run(case, launcher, programs, *PING, (adapter, second.start()))
    second.conclude()
    capture = merged(second.captures[adapter.link], work / "all.pcap")
    messages = "\n".join(tshark(capture, "infiniband.mad"))
    absent = [kind for kind in MESSAGES if kind not in messages]
    # A port number may look like that of another protocol.
    wrong = 'infiniband.mad && (_ws.malformed || _ws.expert.severity == "Error")'
    errors = tshark(capture, wrong, "--disable-protocol", "infiniband_sdp")
    print("\n".join(errors[:5]))
    if absent or errors:
        raise Failure(f"missing: {' '.join(absent)}; {len(errors)} packets with errors")


@on_links("loss.ours", is_long, libs="ours")
def test_loss(case, launcher, adapter, programs, second):
    """Packets that are lost are sent again, the messages of rdma_cm among them."""
    clients = second.start("--fault", "loss:1%", "--seed", "5")
    run(case, launcher, programs, *MANY_PINGS, (adapter, clients))
    texts = [launcher.run(host.on(counters.then_counters(["true"])), f"counters{number}")[0].text()
             for number, host in enumerate((adapter, clients))]
    counters.need_losses(*texts)
    second.conclude()


@on_links("killed.program", is_long)
def test_killed_program(launcher, adapter, programs, second):
    """A program is killed: its peer on the other host hears of it."""
    session = Session(launcher, adapter)
    session.serve(["stdbuf", "-oL", *programs.debian("ours", "rping -s -v")], "debian")
    line = second.start().on(programs.debian("ours", "rping -c -C 1000000 -a 198.18.0.1"))
    client = launcher.start(line, "client")
    if not launcher.wait_until(session.server.says("ping data"), session.server):
        raise Failure("no ping has arrived")
    os.kill(child_of(client, "rping"), signal.SIGKILL)
    session.server_line = ["rping", "-s"]
    session.conclude()
    if client.wait(launcher.limit) in (0, 124):
        raise Failure("the client was not killed")
    second.conclude()


@on_links("killed.adapter", is_long)
def test_killed_adapter(launcher, adapter, programs, second):
    """The adapter of a program that waits for events is killed: the program hears of it."""
    host = second.start()
    session = Session(launcher, host)
    session.serve(programs.debian("ours", "ucmatose"), "debian")
    host.process.signal(signal.SIGKILL)
    host.process.wait(launcher.limit)
    status = session.server.wait(launcher.limit)
    if not re.search("rdma_get_cm_event.*: Input/output error$", session.server.text(), re.MULTILINE) or not is_refusal(status):
        raise Failure(f"it was not told: {describe(status, launcher.limit)}")
    second.adapter = None


@named("ib.rdmacm-network.interface_addresses", "roce.rdmacm-network.interface_addresses")
def test_interface_addresses(case, settings, launcher, programs, work):
    """Two hosts, each in a network namespace of its own, know each other by the addresses of their interfaces only."""
    if subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("network namespaces need a privilege here")
    link = case.name.partition(".")[0]

    def start(name, address, command):
        script = f'ip addr add {address}/24 dev lo && ip link set lo up && exec "$@"'
        host = [settings.softhca, "run", "--verbose", "--link", link, "--netdev", "lo", "--network", work / "namespaces", "--"]
        line = programs.debian("ours", command)
        return launcher.start(["unshare", "-rn", "sh", "-c", script, "sh", *host, *line], name), line

    server, server_line = start("server", "10.7.0.1", "rping -s -a 10.7.0.1 -V -v -C 5")
    launcher.wait_until(server.says("is listened at"), server)
    client, client_line = start("client", "10.7.0.2", "rping -c -a 10.7.0.1 -V -v -C 5")
    judge(client, client_line, "debian", client.wait(launcher.limit), launcher.limit)
    judge(server, server_line, "debian", server.wait(launcher.limit), launcher.limit)
