# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's perftest with frames of its own making, from one adapter to another, and dpdk-testpmd, which forwards what it gets, on our
libraries and on Debian's. What frames do not reach is shown, too.

Options of a row go to both sides, which know each other's address and meet nowhere else: the client begins when the server waits
for frames.
"""
import os
import re
import shutil

import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows
from harness.checks import Failure
from harness.process import describe
from harness.programs import words

# As follows from the GUIDs of the first two adapters.
SERVER_MAC = "02:02:c9:5f:00:01"
CLIENT_MAC = "02:02:c9:5f:01:01"
UDP = "-J 10.0.0.1 -j 10.0.0.2 -K 1000 -k 1001"
# NAME | PROGRAM | OPTIONS
PERFTEST = f"""
    bw             | raw_ethernet_bw  | -s 512
    bw_large       | raw_ethernet_bw  | -s 1500
    bw_both_ways   | raw_ethernet_bw  | -s 512 -b
    bw_ip          | raw_ethernet_bw  | -s 512 -J 10.0.0.1 -j 10.0.0.2
    bw_udp         | raw_ethernet_bw  | -s 512 {UDP}
    bw_ipv6        | raw_ethernet_bw  | -s 512 --raw_ipv6 -J fd00::1 -j fd00::2 -K 1000 -k 1001
    bw_flows       | raw_ethernet_bw  | -s 512 {UDP} --flows 4
    bw_vlan        | raw_ethernet_bw  | -s 512 --vlan_en
    bw_promiscuous | raw_ethernet_bw  | -s 512 --promiscuous
    bw_rate_limit  | raw_ethernet_bw  | -s 512 --rate_limit 100 --rate_limit_type PP --rate_units M --burst_size 4
    lat            | raw_ethernet_lat | -s 512
"""
QUICK = "bw_udp bw_rate_limit lat".split()
NOT_MLX4 = "bw_ipv6 bw_rate_limit".split()  # no flows of IPv6 addresses, and no pacing

# dpdk-testpmd: NAME, options of the device, options of testpmd, what the adapter says. Its port steers by direct rules, unless
# dv_flow_en=0 has it use verbs alone.
FORWARD = [
    ("rules", "", "", ""),
    ("one_each", ",dv_flow_en=0,rxq_cqe_comp_en=0", "", ""),
    ("runs", ",rxq_cqe_comp_en=1", "", r"CQ 0x[0-9a-f]*: [1-9][0-9]* completions were compressed"),
    (
        "strides",
        ",mprq_en=1,rxqs_min_mprq=1",
        "",
        r"RQ 0x[0-9a-f]*: [3-9][0-9]{3} frames took [1-9][0-9]?[0-9]? WQEs of strides",
    ),
]
# DPDK's driver of mlx4 has RSS in front of receive queues, however many there are. Four of the usual 512 descriptors would take all
# buffers.
FORWARD_MLX4 = [
    ("one_queue", "", "", ""),
    ("four_queues", "", "--rxq=4 --txq=4 --rxd=256 --txd=256", ""),
]


def perftests(settings):
    for name, program, options in rows(PERFTEST):
        if (settings.quick and name not in QUICK) or (settings.device == "mlx4" and name in NOT_MLX4):
            continue
        sides = [("ours", "ours")]
        if not settings.sanitized:
            sides.append(("debian", "debian"))
            if name == "bw_both_ways":
                sides.append(("ours", "debian"))
        for server, client in sides:
            full = f"roce.raw_ethernet.{name}.{server}--{client}"
            spec = Spec("roce", ("--devices", "2"))
            yield Case(full, adapter=spec, line=f"{program} -F -n 200 {options}", libs=(server, client))


@pytest.mark.skipif(os.getuid() != 0, reason="raw packets need CAP_NET_RAW")
@cases(perftests)
def test_perftest(case, settings, programs, adapter, pair):
    def side(libs, role, number, source, destination):
        where = f"--{role} -d {settings.device}_{number} -B {source} -E {destination}"
        return adapter.on(words("stdbuf -oL", programs.debian(libs, words(case.line, where))))

    server = side(case.libs[0], "server", 0, SERVER_MAC, CLIENT_MAC)
    client = side(case.libs[1], "client", 1, CLIENT_MAC, SERVER_MAC)
    # By then the server has said all about itself, and only results are to come.
    statuses = pair.run(lambda: "#bytes" in pair.server.text(), server, client)
    pair.judge(statuses[1] or statuses[0], checks.perftest, client)


def forwards(settings):
    for name, device_options, options, says in FORWARD if settings.device == "mlx5" else FORWARD_MLX4:
        for libs in ("debian", "ours"):
            full = f"roce.testpmd.{name}.{libs}"
            yield Case(full, device_options=device_options, options=options, says=says, libs=libs)


# Runs on two adapters with network interfaces d0 and d1: frames that testpmd has sent back with their addresses swapped come back to
# another program as they were.
MIRROR = """\
device=$(readlink -f /sys/class/infiniband/{device}_0/device)
{env} dpdk-testpmd --no-huge -m 256 --no-telemetry --no-shconf --lcores 0@0,1@0 -a "${{device##*/}}{device_options}" \
    -- --total-num-mbufs=2048 {options} --forward-mode=macswap --auto-start --stats-period=1 >"{work}/testpmd.log" 2>&1 &
{env} "{mirror}" {device}_1 {client} {server} 3000 || status=1
kill $!
wait $! || status=2
exit ${{status:-0}}
"""
# A network namespace that has interfaces for the adapters
NAMESPACE = """\
ip link add d0 address {server} type veth peer name d1 address {client} && ip link set d0 up && ip link set d1 up || exit 77
exec "$@"
"""


def mirror_script(work, device, mirror, env=("env",), device_options="", options=""):
    """A script that runs testpmd and the program MIRROR behind the words of ENV."""
    script = work / "mirror"
    script.write_text(
        MIRROR.format(
            device=device,
            env=" ".join(env),
            device_options=device_options,
            options=options,
            work=work,
            mirror=mirror,
            client=CLIENT_MAC,
            server=SERVER_MAC,
        )
    )
    return script


def namespace_run(settings, launcher, work, command):
    """What a command says, on two adapters with interfaces d0 and d1 that are connected with each other."""
    adapters = words([settings.softhca], "run --verbose --link roce --devices 2 --netdev d0 --netdev d1 --device", [settings.device])
    namespace = NAMESPACE.format(server=SERVER_MAC, client=CLIENT_MAC)
    line = ["unshare", "-n", "bash", "-c", namespace, "namespace", *adapters, "--", *command]
    run, status = launcher.run(line, "run", env=dict(os.environ, XDG_RUNTIME_DIR=str(work)))
    if status == 77:
        pytest.skip(f"no network interfaces can be made here: {run.text().splitlines()[-1]}")
    if status:
        raise Failure(describe(status, launcher.limit))
    return run.text()


def mirror_run(settings, launcher, work, command):
    """What a command that runs the script says, on two adapters; fails unless each frame comes back."""
    said = namespace_run(settings, launcher, work, command)
    if not re.search(r"^3000 of 3000 frames", said, re.MULTILINE):
        raise Failure("not all 3000 frames came back as they were")
    return said


@cases(forwards)
def test_testpmd(case, settings, programs, launcher, work):
    if settings.sanitized:
        pytest.skip("DPDK's memory does not bear a sanitizer")
    if not shutil.which("dpdk-testpmd"):
        pytest.skip("there is no dpdk-testpmd here")
    env = programs.with_libs("debian", case.libs)
    script = mirror_script(work, settings.device, settings.build / "tests/consumers/frame-mirror", env, case.device_options, case.options)
    said = mirror_run(settings, launcher, work, ["bash", str(script)])
    if not re.search(case.says, said):
        raise Failure(f"the adapter does not say: {case.says}")


REACH = [
    "by the adapter: the other adapter has it, the other interface lacks it",
    "by the interface: the other adapter lacks it, the other interface has it",
]


@cases(lambda settings: [Case(f"roce.frames_and_interfaces.{libs}", libs=libs) for libs in ("debian", "ours")])
def test_reach(case, settings, programs, launcher, work):
    """A limit of softhca (docs/compatibility.md): an adapter and its network interface have no frames in common. A program whose frames
    the host has to answer, such as libvma's ARP, gets no answer.
    """
    line = [settings.build / "tests/consumers/frame-reach", f"{settings.device}_1", "d1", f"{settings.device}_0", "d0"]
    said = namespace_run(settings, launcher, work, programs.debian(case.libs, line))
    if [text for text in said.splitlines() if text.startswith("by the ")] != REACH:
        raise Failure("other frames are seen than the manual says")
