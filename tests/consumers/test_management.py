# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's infiniband-diags, opensm and ibacm, as they are, on the subnet that softhca shows: what they find there."""
import os
import re
import subprocess
import time

import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows
from harness.checks import Failure
from harness.pairs import Pair
from harness.process import describe, is_refusal

SUBNET = Spec("ib", ("--devices", "2", "--ports", "2"))
HOSTS = Spec("ib", ("--network", "WORK/network"), label="ib.network")
# One host, of two adapters with two ports: LIDs 1 to 4, and the switch at the manager's LID. A case is NAME | COMMAND | PATTERN;
# the output must have a line that matches each of the patterns, which stand one behind the other, separated by " && ".
ANSWERS = r"""
ibstat              | ibstat mlx5_1      | State: Active && SM lid: 49151
ibstat-ports        | ibstat -p          | 0x0002c9fffe5f0001 && 0x0002c9fffe5f0102
ibaddr              | ibaddr             | GID fe80::2:c9ff:fe5f:1 LID start 0x1 end 0x1
ibhosts             | ibhosts            | Ca.: 0x0002c9fffe5f0000 ports 2 "softhca mlx5_0" && Ca.: 0x0002c9fffe5f0100 ports 2
ibswitches          | ibswitches         | Switch.: 0x0002c9fffe5f0080 ports 4 "softhca switch of host 0" enhanced port 0 lid 49151
sminfo              | sminfo             | sm lid 49151 sm guid 0x2c9fffe5f0080, .* state 3 SMINFO_MASTER
smpquery-nodeinfo   | smpquery nodeinfo 3 | NodeType:\.*Channel Adapter && NumPorts:\.*2$ && PortGuid:\.*0x0002c9fffe5f0101
smpquery-by-guid    | smpquery -G nodeinfo 0x0002c9fffe5f0102 | LocalPort:\.*2$
smpquery-own        | smpquery -D nodeinfo 0       | PortGuid:\.*0x0002c9fffe5f0001
smpquery-directed   | smpquery -D nodedesc 0,1,3   | Node Description:\.*softhca mlx5_1
smpquery-round      | smpquery -D nodeinfo 0,1,1   | PortGuid:\.*0x0002c9fffe5f0001
smpquery-portinfo   | smpquery portinfo 2 2        | LinkState:\.*Active && SMLid:\.*49151 && NeighborMTU:\.*4096
smpquery-switchinfo | smpquery switchinfo 49151    | LinearFdbTop:\.*49151
smpquery-pkeys      | smpquery pkeys 1             | 0: 0xffff 0x0000 && 128 pkeys capacity
smpquery-guids      | smpquery guidinfo 1          | 0: 0x0002c9fffe5f0001 0x0000000000000000 && ^8 guids capacity
smpquery-sl2vl      | smpquery sl2vl 1             | SL:.* 0.* 1.*15. && ^ports: in  0, out  0: (. 0){16}.$
ibportstate         | ibportstate 1 1              | LinkSpeedExtActive:\.*53.125 Gbps
iblinkinfo          | iblinkinfo    | 49151 *4\[ .*53.125 Gbps Active/ *LinkUp.*==> *4 *2\[ .*softhca mlx5_1
ibnetdiscover       | ibnetdiscover | ^Switch.4 .*lid 49151 && .H-0002c9fffe5f0100.\[2\].*lid 4 4xHDR
ibroute             | ibroute 49151 | 0x0003 003 .*portguid 0x0002c9fffe5f0101
ibtracert           | ibtracert 1 4 | \[4\] -> ca port \{0x0002c9fffe5f0102\}\[2\] lid 4-4 "softhca mlx5_1"
ibqueryerrors       | ibqueryerrors | 3 nodes checked, 0 bad nodes found
saquery-nodes       | saquery       | lid\.*4$ && NodeDescription\.*softhca switch of host 0
saquery-ports       | saquery PIR   | EndPortLid\.*3$
saquery-managers    | saquery -s    | base_lid\.*49151
saquery-paths       | saquery -p --slid 1 --dlid 4 | dgid\.*fe80::2:c9ff:fe5f:102
saquery-all-paths   | saquery -p    | dgid\.*fe80::2:c9ff:fe5f:102
saquery-links       | saquery LR    | FromLID\.*49151 && ToLID\.*4$
saquery-class       | saquery -c    | Class version\.*2$
"""
# Two hosts of a network: each has a switch, and the way leads through both.
OF_TWO_HOSTS = r"""
network.iblinkinfo | iblinkinfo           | softhca switch of host 1 && 65 *1\[ .*49150 *1\[
network.ibtracert  | ibtracert 1 65       | lid 49150-49150 && \] lid 65-65 "softhca mlx5_0"
network.smpquery   | smpquery nodedesc 65 | softhca mlx5_0
"""
# NAME | COMMAND | how its counters begin. The traffic goes from LID 1 to LID 3, which is behind port 3 of the switch.
COUNTERS = """
perfquery          | perfquery 3 1     | Port
perfquery-extended | perfquery -x 3 1  | PortUnicast
perfquery-switch   | perfquery 49151 3 | Port
"""
# ibv_rc_pingpong's path has an MTU of 1024: 4 packets and an acknowledge for each message, in each direction. Data are counted in words.
PINGS, PING_SIZE = 100, 4096
PACKETS, WORDS = PINGS * 5, PINGS * PING_SIZE // 4
# perfquery's own questions and answers between the two looks
OWN_PACKETS, OWN_WORDS = 16, 16 * 64

IBACM = """mount -t tmpfs none /run || exit
echo "$(hostname) mlx5_0 1 default" >WORK/ibacm.addr
/usr/sbin/ibacm -P -A WORK/ibacm.addr -O WORK/ibacm.cfg &
until [ -e /run/ibacm.sock ]; do kill -0 $! || exit; sleep 0.05; done
ib_acme -f l -s 1 -d 3 -v
status=$?
kill $!
exit $status
"""
IBACM_SETTINGS = """log_file WORK/ibacm.log
lock_file WORK/ibacm.pid
server_mode unix
provider ibacmp default
"""


def of_table(text, spec):
    return [Case(f"{spec.link}.{name}.debian", adapter=spec, command=command, patterns=pattern) for name, command, pattern in rows(text)]


def one(name, spec):
    return cases([Case(name, adapter=spec)])


def need(text, patterns):
    """Fails unless a line of TEXT matches each of the patterns."""
    for pattern in patterns.split(" && "):
        if not re.search(pattern, text, re.MULTILINE):
            raise Failure(f"no line like: {pattern}")


class Ask:
    """Runs Debian's programs on the adapter, on Debian's libraries."""

    def __init__(self, launcher, adapter, programs):
        self.launcher, self.adapter, self.programs = launcher, adapter, programs

    def line(self, *command):
        return self.adapter.on(self.programs.debian("debian", *command))

    def text(self, command, name="case"):
        """The output of a command that succeeds."""
        process, status = self.launcher.run(self.line(command), name)
        if status:
            raise Failure(describe(status, self.launcher.limit))
        return process.text()

    def text_in_time(self, server, command, pattern):
        """The output of a command that succeeds sooner or later, as its SERVER comes up."""
        end = time.monotonic() + self.launcher.limit
        while True:
            process, status = self.launcher.run(self.line(command), "case")
            if not status and re.search(pattern, process.text()):
                return process.text()
            if server.is_gone() or time.monotonic() > end:
                raise Failure(f"no answer: {describe(status)}")
            time.sleep(0.1)


@pytest.fixture
def ask(launcher, adapter, programs):
    return Ask(launcher, adapter, programs)


@cases(of_table(ANSWERS, SUBNET))
def test_answer(case, ask):
    need(ask.text(case.command), case.patterns)


# --- counters ------------------------------------------------------------------------------------------------------------------


def traffic(launcher, adapter, programs, port):
    """Messages between LID 1 and LID 3, both ways."""
    command = f"ibv_rc_pingpong -s {PING_SIZE} -n {PINGS} -p {port}"
    server, client = (programs.debian("debian", command, f"-d {device}") for device in ("mlx5_0", "mlx5_1"))
    Pair(launcher, adapter).check(checks.pingpong, port, server, client)


def counted(text):
    """Names and values that perfquery prints."""
    return {name: int(value) for name, value in re.findall(r"^(\w+):\.*(\d+)$", text, re.MULTILINE)}


def need_traffic(before, after, prefix):
    """Fails unless the counters that begin so have grown by what the traffic and perfquery itself send."""
    grown = {name: after[name] - value for name, value in before.items() if name in after}
    for direction in ("Xmit", "Rcv"):
        packets, words = grown[f"{prefix}{direction}Pkts"], grown[f"Port{direction}Data"]
        if not PACKETS <= packets <= PACKETS + OWN_PACKETS or not WORDS <= words <= WORDS + OWN_WORDS:
            raise Failure(f"{PACKETS} packets and {WORDS} words were sent, {direction} has {packets} and {words}")


@cases([Case(f"ib.{name}.debian", adapter=SUBNET, command=command, prefix=prefix) for name, command, prefix in rows(COUNTERS)])
def test_counters(case, launcher, adapter, programs, port, ask):
    before = counted(ask.text(case.command, "before"))
    traffic(launcher, adapter, programs, port)
    need_traffic(before, counted(ask.text(case.command, "after")), case.prefix)


@one("ib.perfquery-reset.debian", SUBNET)
def test_reset(launcher, adapter, programs, port, ask):
    """-r tells the counters and sets them to 0."""
    traffic(launcher, adapter, programs, port)
    before, after = counted(ask.text("perfquery -r 3 1", "before")), counted(ask.text("perfquery 3 1", "after"))
    for name in ("PortXmitPkts", "PortRcvPkts"):
        if before[name] < PACKETS or after[name] > OWN_PACKETS:
            raise Failure(f"{name} is {before[name]}, and {after[name]} after its reset")


# --- programs with daemons ---------------------------------------------------------------------------------------------------------


@one("ib.ibping", SUBNET)
def test_ibping(launcher, ask):
    server = launcher.start(ask.line("ibping -S"), "server")
    ask.text_in_time(server, "ibping -c 1 -C mlx5_1 1", "Pong")
    text = ask.text("ibping -c 3 -C mlx5_1 1")
    need(text, r"^Pong from .*\(Lid 1\) && 3 packets transmitted, 3 received, 0% packet loss")
    if server.is_gone():
        raise Failure(f"the server ended by itself, {describe(server.popen.returncode)}")


@one("ib.ibsysstat", SUBNET)
def test_ibsysstat(launcher, ask):
    server = launcher.start(ask.line("ibsysstat -S"), "server")
    ask.text_in_time(server, "ibsysstat -C mlx5_1 1", "sysstat ping succeeded")
    if server.is_gone():
        raise Failure(f"the server ended by itself, {describe(server.popen.returncode)}")


@one("ib.opensm-stands-by", SUBNET)
def test_opensm(launcher, ask, work):
    """opensm sees the manager, and waits for its end; while it runs its port says that a manager is there."""
    opensm = launcher.start(ask.line(["opensm", "-f", work / "opensm-own.log"]), "opensm")
    if not launcher.wait_until(opensm.says("Entering STANDBY"), opensm):
        raise Failure("it does not stand by")
    need(ask.text("smpquery portinfo 1 1"), "IsSM$")
    log = (work / "opensm-own.log").read_text(errors="replace")
    errors = [line for line in log.splitlines() if " ERR " in line]
    if errors or opensm.is_gone():
        raise Failure(errors[0] if errors else "it has ended")


@one("ib.ibacm-resolves-a-path", SUBNET)
def test_ibacm(launcher, adapter, work):
    """ibacm's socket is at a fixed place: it and the program that asks it get a /run of their own."""
    own_run = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
    if subprocess.run(own_run + ["mount", "-t", "tmpfs", "none", "/run"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no mount namespace to be had here: unshare --mount")
    (work / "ibacm.cfg").write_text(IBACM_SETTINGS.replace("WORK", str(work)))
    process, status = launcher.run(adapter.on([*own_run, "sh", "-c", IBACM.replace("WORK", str(work))]), "case")
    if status:
        raise Failure(describe(status, launcher.limit))
    need(process.text(), "dgid: fe80::2:c9ff:fe5f:101 && SA verification: success")


# --- two hosts, and RoCE -------------------------------------------------------------------------------------------------------------


@cases(of_table(OF_TWO_HOSTS, HOSTS))
def test_two_hosts(case, rig, ask, work):
    (work / "second").mkdir()
    network = str(rig.settings.work / "network")
    second = rig.adapters.start(Spec("ib", ("--network", network)), work / "second")
    try:
        need(ask.text(case.command), case.patterns)
        second.check_and_stop()
    finally:
        second.stop()


@cases(of_table("ibstat | ibstat | Link layer: Ethernet", Spec("roce")))
def test_roce(case, ask):
    need(ask.text(case.command), case.patterns)


@one("roce.no-manager", Spec("roce"))
def test_no_manager(launcher, ask):
    """RoCE has no subnet management, which a program hears when it registers for it."""
    process, status = launcher.run(ask.line("sminfo"), "case")
    if not is_refusal(status):
        raise Failure(f"sminfo: {describe(status, launcher.limit)}")
    need(process.text(), "client_register for mgmt 1 failed")
