# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs on adapters of different processes, joined by "softhca --network": what they do over packets, also when some are
lost and when a host dies; and what tshark makes of the packets.

The short form is for builds with a sanitizer: all that the adapter does happens there.
"""
import subprocess
import sys

import pytest

from harness import checks, counters, ports
from harness.capture import tshark
from harness.cases import Case, cases, rows
from harness.checks import Failure
from harness.pairs import Pair
from harness.process import describe, is_refusal
from harness.settings import CONSUMERS

# NAME | ORIGIN | COMMAND of both sides
PINGPONGS = """
rc_pingpong.ours    | ours   | ibv_rc_pingpong -n 500
rc_pingpong.debian  | debian | ibv_rc_pingpong -n 500
rc_pingpong.checked | ours   | ibv_rc_pingpong -c -n 100 -s 100000
rc_pingpong.events  | debian | ibv_rc_pingpong -e -n 200
uc_pingpong         | debian | ibv_uc_pingpong -n 500
ud_pingpong         | debian | ibv_ud_pingpong -n 500
srq_pingpong        | debian | ibv_srq_pingpong -n 500
"""
# NAME | COMMAND of both sides, Debian's
PERFTESTS = """
ib_write_bw    | ib_write_bw -F -s 65536 -n 500 -q 4
ib_read_bw     | ib_read_bw -F -s 65536 -n 300
ib_send_bw     | ib_send_bw -F -s 1048576 -n 50 -b
ib_atomic_lat  | ib_atomic_lat -F -n 200
ib_write_lat   | ib_write_lat -F -s 64 -n 300
ib_send_bw.UD  | ib_send_bw -F -c UD -s 1024 -n 500
ib_write_bw.UC | ib_write_bw -F -c UC -s 65536 -n 200
ib_send_bw.DC  | ib_send_bw -F -c DC -s 300000 -n 50
"""
# A pingpong ends without a word, so its last acknowledge must not be lost; these agree on the end by TCP.
LOSSES = """
loss.write  | ib_write_bw -F -s 65536 -n 200 -u 12
loss.read   | ib_read_bw -F -s 65536 -n 100 -u 12
loss.send   | ib_send_bw -F -s 4000 -n 1000 -u 12
loss.dc     | ib_write_bw -F -c DC -s 65536 -n 200 -u 12
loss.atomic | ib_atomic_lat -F -n 1000 -u 12
"""
FAULTS = "--fault loss:1% --fault late:1% --seed 3"
# NAME | NAME of the look at its packets | ORIGIN | COMMAND | at least so many PACKETS | LINK, if not both
CAPTURES = """
captured_0       | pingpong_0 | ours   | ibv_rc_pingpong -n 50           | 400 | ib
captured_0       | pingpong_0 | ours   | ibv_rc_pingpong -n 50 -g 0      | 400 | roce
captured_1       | pingpong_1 | ours   | ibv_rc_pingpong -n 50 -g 1      | 400 | roce
captured_3       | pingpong_3 | ours   | ibv_rc_pingpong -n 50 -g 3      | 400 | roce
captured_reads   | reads      | debian | ib_read_bw -F -s 65536 -n 20       | 300
captured_atomics | atomics    | debian | ib_atomic_lat -F -n 50             | 100
"""
ENDLESS = "ib_write_bw -F -D 60 -u 14"
ERRORS = '_ws.malformed || _ws.expert.severity == "Error" || _ws.expert.severity == "Warning"'


def case_of(link, name, **fields):
    return Case(f"{link}.network.{name}", link=link, **fields)


def on_links(name, **fields):
    """A table of one case on each link layer, in the long form only."""
    return cases(lambda settings: [] if settings.quick else [case_of(link, name, **fields) for link in ("ib", "roce")])


def table(settings):
    for link in ("ib", "roce"):
        if not settings.quick:
            for name, origin, command in rows(PINGPONGS):
                gid = " -g 3" if link == "roce" else ""
                yield case_of(link, name, origin=origin, command=command + gid, judge=checks.pingpong)
        for name, command in rows(PERFTESTS):
            yield case_of(link, name, origin="debian", command=command, judge=checks.perftest)


def losses(_settings):
    for link in ("ib", "roce"):
        for name, command in rows(LOSSES):
            yield case_of(link, name, command=command)


def captures(prefix):
    """The cases of CAPTURES: the runs, or the looks at their packets, which have the PREFIX."""

    def table(settings):
        if settings.quick:
            return
        for link in ("ib", "roce"):
            for run, look, origin, command, packets, *only in rows(CAPTURES):
                if only in ([], [link]):
                    judge = checks.pingpong if "pingpong" in command else checks.perftest
                    yield case_of(link, prefix + look if prefix else run, run=run, origin=origin, command=command, judge=judge,
                                  packets=int(packets))

    return cases(table)


class Hosts:
    """Runs programs on hosts of one network, each with an adapter of its own."""

    def __init__(self, case, settings, launcher, programs, port):
        self.case, self.settings, self.launcher, self.programs, self.port = case, settings, launcher, programs, port
        self.network = settings.work / f"network.{case.link}"

    def on(self, line, options=""):
        """The command line that runs LINE on another host."""
        line = [str(word) for word in line]
        start = [self.settings.softhca, "run", "--network", self.network, "--link", self.case.link]
        return [str(word) for word in start] + options.split() + ["--", *line]

    def command(self, origin, command):
        return self.programs.line(origin, origin, command.split()[0], *command.split()[1:], "-p", str(self.port))

    def pair(self, origin, command, judge, options="", capture=None, wrap=lambda line: line):
        """The server on one host, the client on another, whose packets may be written to CAPTURE; the text of both."""
        server = self.command(origin, command)
        client = [*server, "127.0.0.1"]
        pair = Pair(self.launcher, None)
        to_client = f"{options} --pcap {capture}" if capture else options
        status = pair.by_port(self.port, self.on(wrap(server), options), self.on(wrap(client), to_client))
        pair.judge(status, judge, client)
        return pair.texts()


@pytest.fixture
def hosts(case, settings, launcher, programs, port):
    return Hosts(case, settings, launcher, programs, port)


@cases(table)
def test_pair(case, hosts):
    hosts.pair(case.origin, case.command, case.judge)


@cases(losses)
def test_losses(case, hosts):
    texts = hosts.pair("debian", case.command, checks.perftest, FAULTS, wrap=counters.then_counters)
    counters.need_losses(*texts)


def captured(case, hosts):
    """The packets of a case of CAPTURES; it runs once."""
    capture = hosts.settings.work / f"{case.link}.{case.run}.pcap"
    if not capture.exists():
        hosts.pair(case.origin, case.command, case.judge, capture=capture)
    return capture


@captures("")
def test_captured(case, hosts):
    captured(case, hosts)


@captures("capture.")
def test_capture(case, hosts):
    """There are enough packets, all of them are decoded, none has an error, and each checksum is right."""
    capture = captured(case, hosts)
    total, decoded = len(tshark(capture, "")), len(tshark(capture, "infiniband.bth && !_ws.malformed"))
    errors = tshark(capture, ERRORS)
    print("\n".join(errors[:5]))
    if total < case.packets or decoded != total or errors:
        raise Failure(f"tshark decodes {decoded} of {total} packets, {len(errors)} with errors")
    icrc = subprocess.run([sys.executable, CONSUMERS / "check_icrc", capture], capture_output=True, text=True)
    if icrc.returncode or icrc.stdout.strip() != f"{total} good, 0 bad":
        raise Failure(f"invariant checksums: {icrc.stdout.strip()} {icrc.stderr.strip()}")


@on_links("killed_host")
def test_killed_host(hosts, launcher, port, work):
    """The client of a killed server, which has packets on their way, runs into its retry limit."""
    line = hosts.command("debian", ENDLESS)
    capture = work / "killed.pcap"
    server = launcher.start(hosts.on(line), "server")
    launcher.wait_until(lambda: ports.listens(port), server)
    client = launcher.start(hosts.on([*line, "127.0.0.1"], f"--pcap {capture}"), "client")
    if not launcher.wait_until(lambda: capture.exists() and capture.stat().st_size > 1000000, client):
        raise Failure("the client sends nothing")
    server.kill()
    capture.unlink()
    status = client.wait(launcher.limit)
    if "Failed status 12" not in client.text() or not is_refusal(status):
        raise Failure(f"the client has not seen its retry limit: {describe(status, launcher.limit)}")


@on_links("after_killed_host")
def test_after_killed_host(hosts):
    """The network takes new hosts in the places of the dead ones."""
    hosts.pair("ours", "ibv_rc_pingpong -n 50 -g 0", checks.pingpong)


@cases(lambda settings: [] if settings.quick else [Case("network.other_link_layer", link="ib")])
def test_other_link_layer(case, hosts, launcher):
    """An adapter of the other link layer cannot join, and the first one goes on."""
    script = f"cat /sys/class/infiniband/mlx5_0/ports/1/link_layer; sleep {launcher.limit}"
    first = launcher.start(hosts.on(["sh", "-c", script]), "first")
    if not launcher.wait_until(first.says("InfiniBand"), first):
        raise Failure("there is no first host")
    case.link = "roce"
    second, status = launcher.run(hosts.on(["true"]), "second")
    if not is_refusal(status) or "other link layer" not in second.text() or first.is_gone():
        raise Failure(f"a RoCE adapter joined an InfiniBand network, or does not say why not: {describe(status)}")
