# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibv_doctor finds what is wrong with machines that something was taken from, names a cure for it, and its status says how bad it
is; on our libraries and on Debian's.

FINDS of a case has a regular expression for each line that must be there, and behind "!" what no line may begin with. Each problem
and warning must have a cure.

Covers: libibverbs/doctor/
"""
import re
import resource

from harness.cases import Case, cases, named
from harness.checks import Failure
from harness.programs import words

HEALTHY = {
    "ib": Case("", options="", finds="""\
ok       libibverbs: /
ok       libmlx5: /
ok       libmlx4: /
ok       librdmacm: /
ok       modules: ib_uverbs
ok       modules: rdma_ucm
ok       /dev/infiniband/uverbs0: can be opened
ok       /dev/infiniband/rdma_cm: can be opened
ok       mlx5_0: an adapter in software, softhca's
ok       mlx5_0: firmware
ok       mlx5_0/1: InfiniBand, the link is up
ok       mlx5_0/1: MTU 4096
ok       mlx5_0/1: 1 GID
!hint
!warning
!problem"""),
    "roce": Case("", options="--link roce --netdev lo --devices 2", finds="""\
ok       mlx5_0/1: Ethernet, the link is up
hint     mlx5_0/1: MTU 1024, and the adapter could have 4096
ok       mlx5_0/1: . GIDs
ok       mlx5_1/1: Ethernet, the link is up
!warning
!problem"""),
}  # fmt: skip

# An adapter lacks something: options of "softhca run", the status of ibv_doctor, what it finds.
LACKING = [
    Case("doctor.link_down", options="--fault link-down", status=2, finds="problem  mlx5_0/1: the link is down"),
    Case("doctor.no_rdma_cm_file", options="--without /dev/infiniband/rdma_cm", status=1,
         finds="warning  /dev/infiniband/rdma_cm: is not there"),
    Case("doctor.no_rdma_ucm", options="--without /sys/class/misc/rdma_cm", status=1, finds="warning  modules: .*rdma_ucm is missing"),
    Case("doctor.no_uverbs_file", options="--without /dev/infiniband/uverbs0", status=2, finds="""\
problem  /dev/infiniband/uverbs0: is not there
problem  mlx5_0: programs do not find it"""),
    Case("doctor.no_ib_uverbs", options="--without /sys/class/infiniband_verbs --without /dev/infiniband/uverbs0", status=2,
         finds="problem  modules: .*ib_uverbs is missing"),
    Case("doctor.no_open", options="--fault cmd:2=EIO", status=2, finds="problem  mlx5_0: cannot be opened: Input/output error"),
    Case("doctor.no_attributes", options="--fault cmd:3=EIO", status=2, finds="problem  mlx5_0: does not answer: Input/output error"),
    Case("doctor.no_port", options="--fault cmd:4=EIO", status=2, finds="problem  mlx5_0/1: does not answer: Input/output error"),
    Case("doctor.one_of_two_ports", options="--ports 2 --fault cmd:4=EIO", status=1, finds="""\
problem  mlx5_0/1: does not answer: Input/output error
ok       mlx5_0/2: InfiniBand, the link is up"""),
    Case("doctor.one_of_two_adapters", options="--devices 2 --without /dev/infiniband/uverbs0", status=1, finds="""\
problem  /dev/infiniband/uverbs0: is not there
problem  mlx5_0: programs do not find it
ok       mlx5_1/1: InfiniBand, the link is up"""),
    Case("doctor.no_gids", options="--fault cmd:5=EIO", status=2,
         finds="problem  mlx5_0/1: its GIDs cannot be read: Input/output error"),
]  # fmt: skip

# Machines by their PCI devices, as (address, vendor, class, device, driver): ibv_doctor's status is 2 on all of them.
CARD = ("0000:01:00.0", "0x8086", "0x020000", "0x1017", "e1000e")  # somebody else's
ADAPTER = ("0000:02:00.0", "0x15b3")
MACHINES = [
    Case("doctor.no_adapter", pci=[], finds="problem  adapter: there is none\n!ok       modules"),
    Case("doctor.other_network_card", pci=[CARD], finds="problem  adapter: there is none"),
    Case("doctor.no_driver", pci=[CARD, (*ADAPTER, "0x020700", "0x1017", "")], finds="""\
problem  0000:02:00.0: no driver has taken this adapter
         cure: modprobe mlx5_core"""),
    Case("doctor.no_driver.mlx4", pci=[CARD, (*ADAPTER, "0x028000", "0x1003", "")], finds="""\
problem  0000:02:00.0: no driver has taken this adapter
         cure: modprobe mlx4_core"""),
    Case("doctor.no_mlx4_ib", pci=[CARD, (*ADAPTER, "0x028000", "0x1003", "mlx4_core")], finds="""\
problem  0000:02:00.0: mlx4_core has no RDMA device
         cure: modprobe mlx4_ib"""),
    Case("doctor.no_mlx5_ib", pci=[CARD, (*ADAPTER, "0x020000", "0x1017", "mlx5_core")],
         finds="problem  0000:02:00.0: mlx5_core has no RDMA device"),
    Case("doctor.given_away", pci=[CARD, (*ADAPTER, "0x020000", "0x1017", "vfio-pci")], finds="""\
hint     0000:02:00.0: this adapter is for virtual machines
problem  adapter: there is none
!problem  modules"""),
    Case("doctor.given_away.migratable", pci=[CARD, (*ADAPTER, "0x020000", "0x1017", "mlx5_vfio_pci")],
         finds="hint     0000:02:00.0: this adapter is for virtual machines"),
]  # fmt: skip

USAGES = [
    Case("doctor.usage.help", option="--help", status=0, finds="Usage: ibv_doctor", errors=""),
    Case("doctor.usage.unknown", option="--nothing", status=3, finds="!ok", errors="unrecognized option '--nothing'"),
    Case("doctor.usage.argument", option="mlx5_0", status=3, finds="!ok", errors="Usage: ibv_doctor"),
]


def unlimit():
    """Nobody's limit of locked memory is to decide, but where that is the case."""
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, OSError):
        pass


def limit_memory():
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (64 << 10, 64 << 10))


def has_cures(lines):
    """Whether a cure follows each problem and each warning."""
    is_open = False
    for line in lines:
        if is_open and not re.match("         cure: .", line):
            return False
        is_open = line.startswith(("problem", "warning"))
    return not is_open


def examine(launcher, line, expected, finds, preexec=unlimit):
    """Runs ibv_doctor and looks at what it says; the process."""
    doctor, status = launcher.run(line, "doctor", errors=True, preexec_fn=preexec)
    if status != expected:
        raise Failure(f"status {status}, wanted {expected}")
    lines = doctor.text().splitlines()
    for finding in finds.splitlines():
        unwanted = finding.startswith("!")
        if any(re.match(finding.lstrip("!"), said) for said in lines) == unwanted:
            raise Failure(f"{'says' if unwanted else 'does not say'} {finding.lstrip('!')}")
    if not has_cures(lines):
        raise Failure("a finding has no cure")
    return doctor


def under(settings, options, doctor):
    """The command line of ibv_doctor on an adapter of its own."""
    return words([settings.softhca], "run", options, "--", doctor)


@cases([Case(f"doctor.healthy.{link}.{libs}", link=link, libs=libs) for libs in ("ours", "debian") for link in HEALTHY])
def test_healthy(case, settings, programs, launcher):
    adapter = HEALTHY[case.link]
    examine(launcher, under(settings, adapter.options, programs.line("ours", case.libs, "ibv_doctor")), 0, adapter.finds)


@named("doctor.quiet")
def test_quiet(case, settings, programs, launcher):
    """What is fine is not said, all else is."""
    doctor = programs.line("ours", "ours", "ibv_doctor", "-q")
    examine(launcher, under(settings, "--link roce --netdev lo", doctor), 0, "hint     mlx5_0/1: MTU 1024\n!ok")


REPORT = """\
== system
Linux \\d
== environment
VERBS_LOG_LEVEL=1
!.*PASSWORD
== process
CapEff:
RLIMIT_MEMLOCK: \\d
== kernel modules
== adapters that programs find
1$
mlx5_0: firmware .*, PCI 0x2c9:0x101b
  port 1: InfiniBand, .*(active|ACTIVE).*, LID 0x\\w+, .* MTU 4096 of 4096
== findings of ibv_doctor
ok       mlx5_0/1: InfiniBand, the link is up"""


@cases([Case(f"doctor.report.{libs}", libs=libs) for libs in ("ours", "debian")])
def test_report(case, settings, programs, launcher):
    """One text has it all, and not what is nobody's business."""
    doctor = programs.line("ours", case.libs, "ibv_doctor", "--report")
    variables = ["env", "VERBS_LOG_LEVEL=1", "PASSWORD=VERBS_"]
    examine(launcher, under(settings, "", words(variables, doctor)), 0, REPORT)


@named("doctor.report.no_adapter")
def test_report_without_adapter(case, settings, programs, launcher, work):
    doctor = on_machine(programs, settings, new_machine(work)) + ["-r"]
    examine(launcher, doctor, 2, "== adapters that programs find\n0$\nproblem  adapter: there is none")


@cases(LACKING)
def test_something_missing(case, settings, programs, launcher):
    doctor = programs.line("ours", "ours", "ibv_doctor")
    examine(launcher, under(settings, case.options, doctor), case.status, case.finds)


@named("doctor.little_memlock")
def test_little_memlock(case, settings, programs, launcher):
    finds = "warning  memlock: a process may register 64 KiB\n         cure: ulimit -l unlimited.* --ulimit memlock=-1"
    # Root with this capability has no limit.
    ordinary = 'if [ "$(id -u)" = 0 ]; then exec setpriv --bounding-set=-ipc_lock "$@"; else exec "$@"; fi'
    doctor = words(["bash", "-c", ordinary, "ordinary"], programs.line("ours", "ours", "ibv_doctor"))
    examine(launcher, under(settings, "", doctor), 1, finds, limit_memory)


@named("doctor.mixed_libraries")
def test_mixed_libraries(case, settings, programs, launcher, work):
    """Libraries of two releases in one process, as a path that names one of them makes."""
    (work / "libibverbs.so.1").symlink_to(settings.libdir / "libibverbs.so.1")
    doctor = ["env", f"LD_LIBRARY_PATH={work}", programs.path("ours", "ibv_doctor")]
    finds = "problem  librdmacm: .* is of another release than libibverbs, 65.0"
    examine(launcher, under(settings, "", doctor), 1, finds)


# --- machines that a made-up sysfs shows -------------------------------------------------------------------------------------


def on_machine(programs, settings, sysfs):
    """The command line of ibv_doctor on a machine with that sysfs."""
    return ["env", f"LD_LIBRARY_PATH={settings.libdir}", f"SYSFS_PATH={sysfs}", programs.path("ours", "ibv_doctor")]


def new_machine(work):
    sysfs = work / "sysfs"
    (sysfs / "bus/pci/devices").mkdir(parents=True)
    (sysfs / "class").mkdir()
    return sysfs


def add_pci(sysfs, address, vendor, kind, device, driver):
    place = sysfs / "bus/pci/devices" / address
    place.mkdir()
    for name, value in (("vendor", vendor), ("class", kind), ("device", device)):
        (place / name).write_text(f"{value}\n")
    if driver:
        (place / "driver").symlink_to(f"../../drivers/{driver}")


def add_adapter(sysfs, name, driver):
    """An RDMA device; of software, if it has no driver of the kernel's."""
    place = sysfs / "class/infiniband" / name / "device"
    place.mkdir(parents=True)
    if driver:
        (place / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")


@cases(MACHINES)
def test_machine(case, settings, programs, launcher, work):
    sysfs = new_machine(work)
    for device in case.pci:
        add_pci(sysfs, *device)
    examine(launcher, on_machine(programs, settings, sysfs), 2, case.finds)


@named("doctor.no_sysfs")
def test_no_sysfs(case, settings, programs, launcher, work):
    examine(launcher, on_machine(programs, settings, work / "sysfs"), 2, "problem  sysfs: it is not there\n!problem  adapter")


@named("doctor.other_vendors")
def test_other_vendors(case, settings, programs, launcher, work):
    sysfs = new_machine(work)
    add_adapter(sysfs, "bnxt_re0", "bnxt_en")
    add_adapter(sysfs, "rxe0", "")
    finds = """\
problem  bnxt_re0: these libraries have no provider for its driver, bnxt_en
problem  rxe0: these libraries have no provider for it"""
    examine(launcher, on_machine(programs, settings, sysfs), 2, finds)


@named("doctor.sleeping")
def test_sleeping(case, settings, programs, launcher, work):
    """Adapters of others whose RDMA driver is not loaded, beside what is taken, ours, or no RDMA device."""
    sysfs = new_machine(work)
    for part in ("ice.roce.0", "bnxt_en.rdma.1", "i40e.iwarp.2", "irdma.rdma.3/driver", "mlx5_core.rdma.4", "snd.hda.5"):
        (sysfs / "bus/auxiliary/devices" / part).mkdir(parents=True)
    finds = """\
problem  adapter: there is none
hint     bnxt_en.rdma.1: its RDMA driver is not loaded, and these libraries have no provider for it
hint     i40e.iwarp.2: its RDMA driver
hint     ice.roce.0: its RDMA driver
         cure: nothing, if it is not for RDMA
!.* irdma.rdma.3
!.* mlx5_core.rdma.4
!.* snd.hda.5"""
    examine(launcher, on_machine(programs, settings, sysfs), 2, finds)


@cases(USAGES)
def test_usage(case, programs, launcher):
    doctor = examine(launcher, programs.line("ours", "ours", "ibv_doctor", case.option), case.status, case.finds)
    if case.errors not in doctor.errors():
        raise Failure(f"does not say {case.errors}")
