# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Our programs print, byte for byte, what Debian's print: usage, errors, devices that never were (a preloaded stand-in for the library
makes them up), and a real adapter through either pair of libraries.

Debian's program on Debian's libraries is the measure for every other combination. It must say something, on an adapter what stands
behind the arguments, and must not crash or hang.

Covers: libibverbs/examples/
"""
import difflib
import re
import shlex
from pathlib import Path

import pytest

from harness.adapter import Spec
from harness.cases import Case, cases, named, rows
from harness.checks import Failure
from harness.process import TIMED_OUT, describe

PINGPONG = ["", "-h", "--help", "-p 70000", "-i 0", "-m 1000", "-j", "-c x y", "a b c"]
RC_PINGPONG = ["", "-h", "--help", "-p", "-p 70000", "-p -1", "-p 0", "-i 0", "-i 300", "-m 1000", "-m 128", "-m 4096", "-s -5", "-s xyz"]
RC_PINGPONG += ["-r 0", "-g x", "a b", "-P", "-P -o", "-o -j", "-O -j", "-O", "--siz 5", "-e x y"]
DATAGRAMS = ["", "-h", "-s 127.0.0.1", "-f none", "-P none", "-s nosuch.invalid"]
# NAME: arguments of each run without an adapter. The program is the name up to a dot.
NO_ADAPTER = {
    "ibv_devinfo": ["", "-v", "-l", "-d mlx5_0"],
    "ibv_devices": [""],
    "ibv_rc_pingpong": RC_PINGPONG,
    "ibv_uc_pingpong": PINGPONG,
    "ibv_ud_pingpong": PINGPONG,
    "ibv_srq_pingpong": PINGPONG,
    # Debian's leaves a line unfinished when there is no adapter: only what comes before that is compared.
    "ibv_xsrq_pingpong": ["-h", "--help", "-m 1000", "a b c"],
    "ibv_srq_pingpong_counts": ["-q 20 -r 19", "-q 256", "-q 256 -r 100"],
    "ibv_asyncwatch": ["", "-h", "--help", "-x", "-d mlx5_0"],
}
# Usage, and what is said where there is no rdma_cm. The simple programs find names without an adapter on our library only.
NO_ADAPTER_CM = {
    "rping": ["", "-h", "-s", "-c -a 127.0.0.1", "-s -S 5", "-s -C -1", "-s -z", "-c -a nosuch.invalid"],
    "ucmatose": DATAGRAMS,
    "udaddy": DATAGRAMS,
    "mckey": ["", "-h", "-m 224.1.2.3", "-M 224.1.2.3"],
    "cmtime": ["", "-s 127.0.0.1"],  # its usage has more
    "rdma_client": ["-h", "-z 3"],
    "rdma_server": ["-h", "-z 3"],
    "rdma_xclient": ["-h", "-z 3"],
    "rdma_xserver": ["-h", "-z 3"],
}
PINGPONG_ERRORS = """
    -d nosuch               | IB device nosuch not found
    -p 1 nosuch.invalid     | Name or service not known for nosuch.invalid:1
"""
# NAME: on an adapter, ARGUMENTS | what Debian's program says
ON_ADAPTER = {
    "ibv_devinfo": """
                            | hca_id:	mlx5_0
        -v                  | GID[  0]:
        -l                  | 1 HCA found:
        -i 1                | hca_id:	mlx5_0
        -i 2                | Invalid port requested for device
        -d mlx5_0 -v        | GID[  0]:
        -d nosuch           | IB device 'nosuch' wasn't found
        -h                  | Usage: ibv_devinfo
    """,
    "ibv_devices": "       | 0002c9fffe5f0000",
    "ibv_rc_pingpong_errors": """
        -d nosuch           | IB device nosuch not found
        -i 9                | Failed to modify QP to INIT
        -g 9999             | can't read sgid of index 9999
        -j -s 100000000     | Device memory is insufficient
        -r 5000000          | Couldn't create CQ
        -p 1 127.0.0.1      | Couldn't connect to 127.0.0.1:1
        -p 1 nosuch.invalid | Name or service not known for nosuch.invalid:1
    """,
    "ibv_uc_pingpong_errors": PINGPONG_ERRORS,
    "ibv_ud_pingpong_errors": PINGPONG_ERRORS,
    "ibv_srq_pingpong_errors": PINGPONG_ERRORS,
    "ibv_ud_pingpong_size": "-s 5000 | Requested size larger than port MTU (",
    "ibv_asyncwatch": "-d nosuch | IB device nosuch not found",
}
CONNECT_ERRORS = """
    -s nosuch.invalid              | getaddrinfo error: Name or service not known
    -s 127.0.0.1                   | event: RDMA_CM_EVENT_{refused}
    -s 127.0.0.1 -b nosuch.invalid | getaddrinfo error: Name or service not known
    -s 10.9.9.9                    | event: RDMA_CM_EVENT_ADDR_ERROR, error: -19
    -s 10.9.9.9 -c 3               | event: RDMA_CM_EVENT_ADDR_ERROR, error: -19
    -s ::1 -f ip                   | event: RDMA_CM_EVENT_{refused}
    -s 127.0.0.1 -f ipv6           | event: RDMA_CM_EVENT_{refused}
    -s 127.0.0.1 -S 10000          | {large}
    -b nosuch.invalid              | getrdmaaddr error: Name or service not known
    -b 1.2.3.4                     | bind address failed: Cannot assign requested address
"""
CLIENT_ERRORS = """
                      | rdma_connect: Connection refused
    -s nosuch.invalid | rdma_getaddrinfo: Name or service not known
    -p nosuch         | rdma_getaddrinfo: Servname not supported for ai_socktype
    -c z              | usage: {program}
"""
# What goes wrong before there is a connection
ON_ADAPTER_CM = {
    "rping_errors": """
        -c -a nosuch.invalid       | getaddrinfo failed (Name or service not known)
        -c -a 127.0.0.1 -p 1       | cma event RDMA_CM_EVENT_REJECTED, error 8
        -c -a 10.9.9.9             | cma event RDMA_CM_EVENT_ADDR_ERROR, error -19
        -c -a 127.0.0.1 -I 1.2.3.4 | rdma_resolve_addr: Cannot assign requested address
        -s -a 1.2.3.4              | rdma_bind_addr: Cannot assign requested address
        -s -a nosuch.invalid       | getaddrinfo failed (Name or service not known)
    """,
    "ucmatose_errors": CONNECT_ERRORS.format(refused="REJECTED, error: 8", large="event: RDMA_CM_EVENT_REJECTED, error: 8"),
    "udaddy_errors": CONNECT_ERRORS.format(refused="UNREACHABLE, error: 1", large="message_size 10000 is larger than active mtu 4096"),
    "udaddy_port_space": "-p 5 | listen request failed: Invalid argument",
    "mckey_errors": """
        -m nosuch.invalid                          | getaddrinfo failed (Name or service not known)
        -m 224.1.2.3 -b nosuch.invalid             | getaddrinfo failed (Name or service not known)
        -m 224.1.2.3 -b 1.2.3.4                    | addr bind failure: Cannot assign requested address
        -m 10.1.2.3 -b 198.18.0.1                  | failure leaving: Cannot assign requested address
        -m 224.1.2.3 -b 198.18.0.1 -S 5000         | failure leaving: Cannot assign requested address
        -s -m 224.1.2.3 -b 198.18.0.1              | data transfers complete
        -s -o -l -c 3 -m 224.1.2.3 -b 198.18.0.1   | data transfers complete
        -s -C 0 -m 224.1.2.3 -b 198.18.0.1         | joined dgid: ff12:401b:ffff::1:203
    """,
    "rdma_client_errors": CLIENT_ERRORS.format(program="rdma_client"),
    "rdma_xclient_errors": CLIENT_ERRORS.format(program="rdma_xclient"),
    "rdma_server_errors": """
        -s 1.2.3.4        | rdma_create_ep: Cannot assign requested address
        -s nosuch.invalid | rdma_getaddrinfo: Name or service not known
    """,
}
# (program, libraries) other than Debian's on Debian's
OTHERS = [("ours", "ours"), ("debian", "ours"), ("ours", "debian")]
OURS = OTHERS[:1]
DEVINFO_ARGUMENTS = ["", "-v", "-l", "-d shim1 -v", "-i 2", "-i 1 -v", "-i 9"]

# Random numbers of a pingpong differ from run to run, and an option of release 65.0 is in ours only; nothing else may.
MASKS = [
    (r"^  -U, --allow-cc-unprotected(?s:.*?)memory on CoCo guests\n", ""),
    (r"(QPN|PSN) 0x[0-9a-f]{6}", r"\1 X"),
    (r" in [0-9.]+ seconds = [0-9.]+ ", " in T seconds = T "),
]
# rping's event thread ends the program while its main thread is about to say what it waited for: whether these lines come out is a
# race in either program; and Debian's rping closes the channel that its event thread is about to read.
RACES = [
    (r"^rdma_get_cm_event: Bad file descriptor\n", ""),
    (r"^(wait for CONNECTED|waiting for addr/route resolution) state [0-9]+\n", ""),
    (r"^connect error -?[0-9]+\n", ""),
]


def masked(text, masks):
    for pattern, replacement in masks:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


class Recorder:
    """Runs programs under one name, and compares what they print with what Debian's print."""

    def __init__(self, launcher):
        self.launcher = launcher
        self.differing = 0
        self.difference = launcher.work / "difference.log"

    def record(self, prefix, program, arguments):
        """Output, errors and status of a program."""
        named = ["bash", "-c", 'name=$1 program=$2; shift 2; exec -a "$name" "$program" "$@"', "record"]
        line = [*prefix, *named, program.rpartition("/")[2], program, *shlex.split(arguments)]
        process, status = self.launcher.run(line, "record", errors=True)
        text, errors = process.text(), process.errors()
        if status == TIMED_OUT or status < 0 or 128 < status < 160:
            raise Failure(f"{program} {arguments}: {describe(status)}")
        if not text + errors:
            raise Failure(f"{program} {arguments}: prints nothing")
        return f"{masked(text, MASKS)}--- errors\n{masked(errors, RACES)}--- status {status}\n"

    def compare(self, what, expected, got):
        """Counts the runs that differ, and shows the first difference."""
        if expected == got:
            return
        self.differing += 1
        if self.differing == 1:
            lines = difflib.unified_diff(expected.splitlines(), got.splitlines(), "debian", what, lineterm="")
            self.difference.write_text("\n".join(lines) + "\n")

    def conclude(self):
        for log in self.launcher.work.glob("record*"):
            log.unlink()
        if self.differing:
            raise Failure(f"{self.differing} runs differ from Debian's")


@pytest.fixture
def recorder(launcher):
    return Recorder(launcher)


@named("programs.made_up_devices")
def test_made_up_devices(case, settings, programs, recorder):
    shim = settings.build / "tests/consumers/devinfo_shim.so"
    found = 0
    for seed in range(1, 6 if settings.quick else 41):
        prefix = ["env", f"DEVINFO_SEED={seed}", f"LD_PRELOAD={shim}"]
        for program, arguments in [*(("ibv_devinfo", arguments) for arguments in DEVINFO_ARGUMENTS), ("ibv_devices", "")]:
            debian = recorder.record(prefix, programs.path("debian", program), arguments)
            ours = recorder.record(prefix, programs.path("ours", program), arguments)
            recorder.compare(f"seed {seed}: {program} {arguments}", debian, ours)
            found += "hca_id:\tshim" in debian
    recorder.conclude()
    assert found > 10, f"the stand-in has made up devices in {found} runs only"


def program_of(name):
    """The program that a name of the tables is about."""
    return re.sub("_(errors|counts|size|port_space)$", "", name)


def compare_lines(case, programs, recorder, on):
    """Compares each combination of program and libraries; ON is the command line's beginning for the adapter."""
    for arguments, says in case.lines:
        debian = recorder.record(on + programs.with_libs("debian", "debian"), programs.path("debian", case.program), arguments)
        if says not in debian:
            raise Failure(f"Debian's {case.program} {arguments} does not say: {says}")
        for origin, libs in case.others:
            got = recorder.record(on + programs.with_libs(origin, libs), programs.path(origin, case.program), arguments)
            recorder.compare(f"{case.program} {arguments}: {origin} program on {libs} libraries", debian, got)
    recorder.conclude()


def without_adapter(_settings):
    for table, others in ((NO_ADAPTER, OTHERS), (NO_ADAPTER_CM, OURS)):
        for name, lines in table.items():
            yield Case(f"programs.no_adapter.{name}", program=program_of(name), lines=[(line, "") for line in lines], others=others)


@cases(without_adapter)
def test_without_adapter(case, programs, recorder):
    compare_lines(case, programs, recorder, [])


def spec_of(link):
    return Spec(link, ("--netdev", "lo"))


def with_adapter(_settings):
    for link, table, others in (("ib", ON_ADAPTER, OTHERS), ("roce", ON_ADAPTER, OTHERS), ("ib", ON_ADAPTER_CM, OURS)):
        for name, lines in table.items():
            full = f"{link}.programs.{name}"
            yield Case(full, adapter=spec_of(link), program=program_of(name), lines=list(rows(lines)), others=others)


@cases(with_adapter)
def test_with_adapter(case, programs, recorder, adapter):
    compare_lines(case, programs, recorder, adapter.on([]))


# --- the adapter's network interface -----------------------------------------------------------------------------------------

# What programs ask to get from an adapter to its network interface and back
INTERFACE = """
p=/sys/class/infiniband/mlx5_0
echo "net $(ls $p/device/net)"
echo "mtu $(cat $p/device/net/lo/mtu)"
echo "index $(cat $p/device/net/lo/ifindex)"
echo "port $(cat $p/device/net/lo/dev_port)"
echo "adapter $(ls "$(realpath /sys/class/net/lo/device)/infiniband")"
echo "ndev $(cat $p/ports/1/gid_attrs/ndevs/3 2>/dev/null || echo none)"
echo "gid $(cat $p/ports/1/gids/5 2>/dev/null)"
"""
INTERFACES = [
    Case("ib.network_interface", adapter=spec_of("ib"), ndev="none", gid=":".join(["0000"] * 8)),
    Case("roce.network_interface", adapter=spec_of("roce"), ndev="lo", gid="0000:0000:0000:0000:0000:ffff:7f00:0001"),
]


@cases(INTERFACES)
def test_network_interface(case, launcher, adapter):
    process, status = launcher.run(adapter.on(["bash", "-c", INTERFACE]), "interface")
    lo = Path("/sys/class/net/lo")
    mtu, index = ((lo / name).read_text().strip() for name in ("mtu", "ifindex"))
    expected = f"net lo\nmtu {mtu}\nindex {index}\nport 0\nadapter mlx5_0\nndev {case.ndev}\ngid {case.gid}\n"
    if status or process.text() != expected:
        raise Failure(f"{describe(status)}, or not what the interface is")
