# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that move what they store by the adapter: Ceph, a QEMU that migrates, and tgt's iSER target with libiscsi's initiator; each
as Debian ships it, on our libraries, with --all on Debian's, too. What has arrived is compared.
"""
import os
import random

import pytest

from harness import ports
from harness.applications import ADDRESS, build, judged, need_programs, table_of
from harness.cases import cases
from harness.checks import Failure
from harness.process import describe
from harness.settings import CONSUMERS

pytestmark = pytest.mark.own_network

# --- Ceph: a monitor, a daemon with objects in memory, and clients. The messenger says who it is by TCP, and all else by the adapter. ---

CEPH_ID = "5c6f7a40-0000-4000-8000-00000000c4f1"
CEPH = f"""[global]
fsid = {CEPH_ID}
mon_host = 127.0.0.1:PORT
mon_initial_members = a
public_addr = 127.0.0.1
ms_type = async+rdma
ms_async_rdma_device_name = DEVICE_0
ms_async_rdma_buffer_size = 16384
ms_async_rdma_receive_buffers = 4096
ms_async_rdma_send_buffers = 1024
ms_async_rdma_receive_queue_len = 512
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = 1
osd_pool_default_min_size = 1
mon_allow_pool_size_one = true
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 134217728
run_dir = WORK
admin_socket = WORK/$name.asok
log_file = WORK/$name.log
mon_data = WORK/mon
osd_data = WORK/osd
keyring = WORK/keyring
"""
# What the files of a cluster are made by; the last one looks for the adapter.
CEPH_FILES = f"""monmaptool --create --fsid {CEPH_ID} --addv a [v2:127.0.0.1:PORT] WORK/monmap
ceph-authtool -C WORK/keyring --gen-key -n mon. --cap mon 'allow *'
ceph-authtool WORK/keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
ceph-mon --mkfs -i a --monmap WORK/monmap --keyring WORK/keyring
"""
CEPH_OBJECT = f"""ceph osd new {CEPH_ID}
ceph-osd --mkfs -i 0 --osd-uuid {CEPH_ID}
"""
CEPH_USE = """ceph osd pool create test 8
rados -p test put object WORK/data
rados -p test get object WORK/back
"""


class Ceph:
    """Runs the programs of a cluster whose files are in WORK."""

    def __init__(self, settings, launcher, on, port):
        self.launcher, self.on, self.steps = launcher, on, 0
        self.values = {"WORK": str(launcher.work), "PORT": str(port), "DEVICE": settings.device}
        (launcher.work / "ceph.conf").write_text(self.filled(CEPH))
        self.environment = dict(os.environ, CEPH_CONF=str(launcher.work / "ceph.conf"))
        (launcher.work / "osd").mkdir()

    def filled(self, text):
        for name, value in self.values.items():
            text = text.replace(name, value)
        return text

    def run(self, text):
        """Runs commands, each of which succeeds."""
        for line in self.filled(text).splitlines():
            self.steps += 1
            process, status = self.launcher.run(self.on(line), f"step{self.steps}", env=self.environment)
            if status:
                raise Failure(f"{line.split()[0]}: {describe(status, self.launcher.limit)}")

    def start(self, line, name):
        return self.launcher.start(self.on(line), name, env=self.environment)

    def is_up(self):
        process, status = self.launcher.run(self.on("ceph osd stat"), "stat", env=self.environment)
        return not status and "1 up" in process.text()


@cases(table_of([["ceph"]]))
def test_ceph(settings, launcher, on, port, work):
    """5 MB go to the cluster by the adapter and come back. A messenger whose other side has gone tries for minutes, so all are killed."""
    need_programs("ceph-mon", "ceph-osd", "ceph", "rados", "monmaptool", "ceph-authtool")
    (work / "data").write_bytes(os.urandom(5000000))
    ceph = Ceph(settings, launcher, on, port)
    ceph.run(CEPH_FILES)
    monitor = ceph.start("ceph-mon -f -i a", "monitor")
    if not launcher.wait_until(lambda: ports.listens(port), monitor):
        raise Failure("the monitor does not come up")
    ceph.run(CEPH_OBJECT)
    store = ceph.start("ceph-osd -f -i 0", "store")
    if not launcher.wait_until(ceph.is_up, store):
        raise Failure("the store does not come up")
    ceph.run(CEPH_USE)
    if (work / "data").read_bytes() != (work / "back").read_bytes():
        raise Failure("another object came back")
    if monitor.is_gone() or store.is_gone():
        raise Failure("a daemon has ended")


# --- QEMU -------------------------------------------------------------------------------------------------------------------------------

MEMORY, MEMORY_AT = 32 << 20, 0x2000000
QEMU = "qemu-system-x86_64 -machine q35,accel=tcg -m 128 -nodefaults -display none -S"


@cases(table_of([["qemu"]]))
def test_qemu(launcher, adapter, on, port, work):
    """A machine with 32 MiB of random bytes in its memory moves to another QEMU. Neither runs."""
    need_programs("qemu-system-x86_64")
    (work / "memory").write_bytes(random.randbytes(MEMORY))
    uri = f"rdma:{ADDRESS}:{port}"
    before = adapter.listeners()

    def machine(name, options):
        return launcher.start(on(f"{QEMU} -qmp unix:{work}/{name},server=on,wait=off {options}"), f"{name}-qemu")

    destination = machine("destination", f"-incoming {uri}")
    launcher.wait_until(lambda: adapter.listeners() > before, destination)  # if not, the migration says what is wrong
    source = machine("source", f"-device loader,file={work}/memory,addr={MEMORY_AT},force-raw=on")
    if not launcher.wait_until(lambda: all((work / name).is_socket() for name in ("source", "destination")), source):
        raise Failure("a machine does not come up")
    migrate = [CONSUMERS / "qemu_migrate.py", work / "source", work / "destination", uri, MEMORY_AT, MEMORY, work / "arrived"]
    text = judged(*launcher.run(migrate, "migration"), launcher.limit)
    for process in (source, destination):
        judged(process, process.wait(launcher.limit), launcher.limit)
    if "completed" not in text or (work / "memory").read_bytes() != (work / "arrived").read_bytes():
        raise Failure("other bytes have arrived")


# --- iSER --------------------------------------------------------------------------------------------------------------------------------

TARGET = "iqn.example:disks"
DISK, BLOCK = 4 << 20, 512
TGTADM = f"""target --op new --tid 1 -T {TARGET}
logicalunit --op new --tid 1 --lun 1 -b WORK/one
logicalunit --op new --tid 1 --lun 2 -b WORK/two
target --op bind --tid 1 -I ALL
target --op bind --tid 1 -Q iqn.example:copy
"""


@cases(table_of([["iser"]]))
def test_iser(settings, launcher, adapter, on, port, work, monkeypatch):
    """Two disks of a target, which are files; the initiator copies one to the other by way of the adapter."""
    need_programs("tgtd", "tgtadm")
    copy = build(settings, "iscsi_copy", "gcc -O2", "iscsi_copy.c", "-liscsi")
    monkeypatch.setenv("TGT_IPC_SOCKET", str(work / "ipc"))
    (work / "one").write_bytes(os.urandom(DISK))
    (work / "two").write_bytes(bytes(DISK))
    before = adapter.listeners()
    target = launcher.start(on(f"tgtd -f -C 1 --iser pool_sz_mb=32 --iscsi portal=127.0.0.1:{port}"), "tgtd")
    launcher.wait_until(lambda: adapter.listeners() > before + 1, target)  # for IPv4 and for IPv6
    for number, line in enumerate(TGTADM.replace("WORK", str(work)).splitlines()):
        judged(*launcher.run(["tgtadm", "-C", "1", "--lld", "iser", "--mode", *line.split()], f"tgtadm{number}"), launcher.limit)
    url = f"iser://{ADDRESS}/{TARGET}"
    text = judged(*launcher.run(on([copy, f"{url}/1", f"{url}/2"]), "client"), launcher.limit)
    if f"{DISK // BLOCK} blocks copied" not in text or (work / "one").read_bytes() != (work / "two").read_bytes():
        raise Failure("the disks differ")
    if target.is_gone():
        raise Failure(f"the target has ended, {describe(target.popen.returncode)}")
