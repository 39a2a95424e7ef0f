# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""DPDK as Debian ships it finds the adapter, encrypts by it, and runs its own test of the driver; on our libraries, with --all on
Debian's, too. Without a network interface of the host that is the adapter's there is no port; test_raw_ethernet.py has one.
"""
import re
import subprocess

import pytest

from harness import crypto
from harness.applications import build, judged, need_programs, table_of
from harness.cases import cases
from harness.checks import Failure, count
from harness.process import describe, is_refusal

EAL = "--no-huge --no-telemetry --no-shconf --lcores 0@0,1@0"
FOUND = (
    'mlx5_common: Dev information matches for device "mlx5_0"',
    "mlx5_common: DevX is supported",
    'mlx5_net: PCI information matches for device "mlx5_0"',
    "Done",
    "Bye",
)
# KEY'S BYTES, operation, bytes of a unit, of which the driver has those of 512 and of 4096
VECTORS = ((32, "encrypt", 512), (32, "decrypt", 4096), (64, "encrypt", 4096), (64, "decrypt", 512))
OPERATIONS = 500


def is_mlx5(device, _row):
    return device == "mlx5"


def on_mlx5(name):
    return cases(table_of([[name, "", ""]], is_possible=is_mlx5))


@pytest.fixture
def address(launcher, on):
    """The adapter's PCI address."""
    process, status = launcher.run(on("readlink -f /sys/class/infiniband/mlx5_0/device"), "address")
    return judged(process, status, launcher.limit).strip().rpartition("/")[2]


@on_mlx5("dpdk")
def test_testpmd(launcher, on, address):
    """DPDK starts, and its driver finds the adapter by its PCI address, opens it, and asks what it can do."""
    need_programs("dpdk-testpmd")
    logs = "--log-level=pmd.common.mlx5,debug --log-level=pmd.net.mlx5,debug"
    line = on(f"dpdk-testpmd {EAL} -m 128 -a {address} {logs} -- --total-num-mbufs=2048 --auto-start")
    text = judged(*launcher.run(line, "testpmd"), launcher.limit)
    absent = [begin for begin in FOUND if not re.search(f"^{re.escape(begin)}", text, re.MULTILINE)]
    if absent:
        raise Failure(f"no line {absent[0]}")


def encrypt(launcher, on, address, name, vector, key, operation, unit, failed):
    """Each operation of a vector is done, and FAILED of them have another outcome than the vector says."""
    path = launcher.work / f"{name}.vector"
    path.write_text(vector)
    options = f"--ptest verify --test-file {path} --devtype mlx5_pci --optype cipher-only --cipher-algo aes-xts"
    options += f" --cipher-op {operation} --cipher-key-sz {key} --cipher-iv-sz 16 --buffer-sz {unit} --total-ops {OPERATIONS}"
    line = on(f"dpdk-test-crypto-perf {EAL} -m 512 -a {address},class=crypto -- {options} --burst-sz 32 --pool-sz 1024 --desc-nb 64 --silent")
    text = judged(*launcher.run(line, name), launcher.limit)
    if not re.search(rf"^ +1 +{unit} +32 +{OPERATIONS} +{OPERATIONS} .* {failed} *$", text, re.MULTILINE):
        raise Failure(f"{name}: other operations failed than {failed} of {OPERATIONS}")


@on_mlx5("dpdk-crypto")
def test_crypto(launcher, on, address):
    """DPDK's driver of encryption: keys of data and memory keys by DevX, a queue pair that is connected to itself by a path which is
    forced to come back, and each block written through a memory key that encrypts. With a vector that is wrong, each operation has
    failed.
    """
    need_programs("dpdk-test-crypto-perf")
    for key, operation, unit in VECTORS:
        encrypt(launcher, on, address, f"{key}-{operation}-{unit}", crypto.vector(key, unit), key, operation, unit, 0)
    wrong = crypto.vector(32, 512).replace("0x00, 0x01, 0x02", "0x00, 0x01, 0x03")
    encrypt(launcher, on, address, "wrong", wrong, 32, "encrypt", 512, OPERATIONS)


@on_mlx5("dpdk-autotest")
def test_autotest(settings, launcher, on, address):
    """DPDK's own test of the driver, with one short queue: it sets up as many as there are for each of its cases. What it lets run are
    cases of units that the driver itself does not have, and three of devices. It ends with the number of those that failed.
    """
    need_programs("dpdk-test")
    include = f"/usr/include/{subprocess.check_output(['gcc', '-print-multiarch'], text=True).strip()}/dpdk"
    compiler = f"gcc -O2 -D_GNU_SOURCE -march=native -shared -fPIC -I/usr/include/dpdk -I{include}"
    small = build(settings, "dpdk_small.so", compiler, "dpdk_small.c")
    variables = f"env LD_PRELOAD={small} DPDK_TEST=cryptodev_mlx5_autotest"
    process, status = launcher.run(on(f"{variables} dpdk-test {EAL} -m 512 -a {address},class=crypto"), "autotest")
    text = process.text()
    ran = count(r"\+ TestCase .* (succeeded|failed)$", text)
    units = count(r"^mlx5_crypto: Unknown block size: (16|32|48)\.$", text)
    devices = count(r"test_(device_configure|queue_pair).* succeeded$", text)
    if ran <= 3 or devices != 3 or units != ran - 3 or not is_refusal(status):
        raise Failure(f"{ran} cases ran, {devices} of devices succeeded, {units} had a unit that is not there; {describe(status)}")
