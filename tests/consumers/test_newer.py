# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of Debian 13 (trixie) and of sid on an adapter: newer than those of the machine, each in a root of its release.

A case is newer.RELEASE.PROGRAM.LINK.LIBRARIES: on our libraries, with --all on the release's own, too. Each has an adapter of its own, whose
trace has to show that the program's data went through it. The first run fetches some hundred MB for each release (newer/fetch).
"""
import dataclasses
import json
import re

import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows
from harness.checks import Failure
from harness.pairs import Pair
from harness.process import describe
from newer.roots import Roots
from newer.traffic import done, missing
from test_management import ANSWERS, SUBNET, need
from test_raw_ethernet import mirror_run, mirror_script

RELEASES = {"trixie": ["trixie"], "sid": ["sid"], "both": ["trixie", "sid"]}
LINKS = {"ib": ["ib"], "roce": ["roce"], "both": ["ib", "roce"]}
ADDRESS = "198.18.0.1"  # of the adapter, for what connects by rdma_cm
HOST = "127.0.0.1"
LIMIT = 180  # seconds; a machine that does much else is slow

# Words in capitals in the tables' commands: PORT, ADDRESS, and {NAME} for a program that is built.
GIDS = {"ib": {"PERFTEST_GID": "", "GID": ""}, "roce": {"PERFTEST_GID": "-x 1", "GID": "-g 0"}}


def expanded(table, names, settings):
    """The cases of a table whose first columns are program, releases, links and package; the others are called NAMES."""
    libraries = ("ours", "debian") if settings.all else ("ours",)
    for program, releases, links, package, *others in rows(table):
        for release in RELEASES[releases]:
            for link in LINKS[links]:
                for libs in libraries:
                    fields = dict(zip(names, others), program=program, release=release, link=link, package=package, libs=libs)
                    yield Case(f"newer.{release}.{program}.{link}.{libs}", limit=LIMIT, **fields)


def table_of(table, *names):
    return cases(lambda settings: expanded(table, names, settings))


# --- fixtures ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def roots(request):
    return Roots(request.config.rig.settings)


@dataclasses.dataclass
class Bench:
    """A case's root, adapter and launcher."""

    case: Case
    root: object
    adapter: object
    launcher: object
    port: int

    def command(self, text):
        """The command line of a table's command, on the adapter."""
        text = re.sub(r"\{([\w.]+)\}", lambda name: self.root.program(name[1]), text)
        values = dict(GIDS[self.case.link], PORT=str(self.port), ADDRESS=ADDRESS)
        for name in sorted(values, key=len, reverse=True):
            text = text.replace(name, values[name])
        return self.adapter.on(self.root.line(self.case.libs, text))

    def run(self, text, name="program", **options):
        """What a command says; fails unless it succeeds."""
        process, status = self.launcher.run(self.command(text), name, **options)
        if status:
            raise Failure(describe(status, self.launcher.limit))
        return process.text()

    def conclude(self, work):
        """The adapter ends well and has done WORK."""
        self.adapter.check_and_stop()
        reason = missing(work, done(self.launcher.work / "trace"))
        if reason:
            raise Failure(reason)


@pytest.fixture
def bench(case, rig, roots, launcher, work, port):
    root = roots.get(case.release)
    root.need(case.package)
    options = ["--trace", str(work / "trace"), "--verbose", *getattr(case, "options", ())]
    adapter = rig.adapters.start(Spec(case.link, tuple(options)), work)
    yield Bench(case, root, adapter, launcher, port)
    adapter.stop()


def refuse_errors(*texts):
    for text in texts:
        wrong = re.search(r".*\bERROR\b.*", text)
        if wrong:
            raise Failure(f"it tells an error: {wrong[0].strip()}")


# --- a server and its client ---------------------------------------------------------------------------------------------------

PERFTEST = "-p PORT PERFTEST_GID"
FABRIC, MSG, DGRAM = "fi_pingpong -c", "-p verbs -e msg -I 20", "-p verbs -e dgram -I 50 -S 1024"
RXD = "-p 'verbs;ofi_rxd' -e rdm -I 10 -S 4096"
RPING, AT = "rping -C 20 -V -v -a ADDRESS -p PORT", "ADDRESS PORT"
UCX, UCX_300, UCX_100 = "ucx_perftest -P 0 -p PORT", "-n 300 -w 20", "-n 100 -w 10"
DEVX = "UCX_IB_MLX5_DEVX=y UCX_IB_MLX5_DEVX_OBJECTS=rcqp,rcsrq"

# program | releases | links | package | how the server listens | server | client | what the client says | what the adapter has done
# A client that begins with "+" is the server's line, this host and what follows.
PAIRS = f"""
perftest.send_bw       | both | both | perftest | tcp | ib_send_bw -F -n 128 {PERFTEST} | + | perftest | SEND 128
perftest.send_lat_ud   | both | both | perftest | tcp | ib_send_lat -F -n 128 -c UD {PERFTEST} | + | perftest | SEND 256
perftest.send_bw_xrc   | both | both | perftest | tcp | ib_send_bw -F -n 128 -c XRC {PERFTEST} | + | perftest | SEND 128
perftest.write_bw      | both | both | perftest | tcp | ib_write_bw -F -n 128 -q 4 -b {PERFTEST} | + | perftest | RDMA_WRITE 512
perftest.write_bw_dc   | both | both | perftest | tcp | ib_write_bw -F -n 128 -c DC {PERFTEST} | + | perftest | RDMA_WRITE 128
perftest.write_lat_uc  | both | both | perftest | tcp | ib_write_lat -F -n 128 -c UC {PERFTEST} | + | perftest | RDMA_WRITE 256
perftest.read_lat      | both | both | perftest | tcp | ib_read_lat -F -n 128 -e {PERFTEST} | + | perftest | RDMA_READ 128
perftest.atomic_bw     | both | both | perftest | tcp | ib_atomic_bw -F -n 128 {PERFTEST} | + | perftest | ATOMIC_FA 128
perftest.rdma_cm       | both | both | perftest | cm  | ib_write_bw -F -n 128 -R -p PORT | + | perftest | RDMA_WRITE 128

# What Debian 12's perftest does not have
perftest.immediate     | both | both | perftest | tcp | ib_write_bw -F -n 128 --write_with_imm {PERFTEST} | + | perftest | RDMA_WRITE_IMM 128
perftest.immediate_lat | both | both | perftest | tcp | ib_write_lat -F -n 128 --write_with_imm {PERFTEST} | + | perftest | RDMA_WRITE_IMM 256
perftest.null_mr       | both | both | perftest | tcp | ib_write_bw -F -n 128 --use-null-mr {PERFTEST} | + | perftest | RDMA_WRITE 128
perftest.null_mr_read  | both | both | perftest | tcp | ib_read_bw -F -n 128 --use-null-mr {PERFTEST} | + | perftest | RDMA_READ 128
perftest.no_lock       | both | both | perftest | tcp | ib_send_bw -F -n 128 -q 2 --no_lock {PERFTEST} | + | perftest | SEND 256
perftest.no_ddp        | both | both | perftest | tcp | ib_send_bw -F -n 128 --no_ddp {PERFTEST} | + | perftest | SEND 128
perftest.flow_label    | both | roce | perftest | tcp | ib_write_bw -F -n 128 -q 2 --flow_label=1,2 {PERFTEST} | + | perftest | RDMA_WRITE 256
perftest.by_rdma_cm    | both | both | perftest | cm  | ib_read_bw -F -n 128 -z -p PORT | + | perftest | RDMA_READ 128
perftest.active_dcis   | both | both | perftest | tcp | ib_write_bw -F -n 128 -c DC --log_dci_streams=3 --log_active_dci_streams=1 {PERFTEST} | + | perftest | RDMA_WRITE 128
perftest.json          | both | both | perftest | tcp | ib_send_bw -F -n 128 --out_json --out_json_file=/dev/null {PERFTEST} | + | perftest | SEND 128

pingpong               | both | both | ibverbs-utils | tcp | ibv_rc_pingpong -n 200 -c -p PORT GID | + | pingpong | SEND 400
rping                  | both | both | rdmacm-utils  | cm  | {RPING} -s | {RPING} -c | ping data: rdma-ping-19 | RDMA_WRITE 20, RDMA_READ 20

ucx.rc_verbs.tag_lat   | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_v {UCX} | + {UCX_300} -t tag_lat -s 64 | ucx | SEND 600
ucx.rc_verbs.tag_bw    | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_v {UCX} | + {UCX_300} -t tag_bw -s 100000 | ucx | RDMA_READ 300
ucx.rc_verbs.put       | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_v {UCX} | + {UCX_300} -t ucp_put_bw -s 65536 | ucx | RDMA_WRITE 300
ucx.rc_verbs.get       | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_v {UCX} | + {UCX_300} -t ucp_get -s 65536 | ucx | RDMA_READ 300
ucx.rc_mlx5.tag_lat    | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_x {UCX} | + {UCX_300} -t tag_lat -s 64 | ucx | SEND 600
ucx.rc_mlx5.tag_bw     | both   | both | ucx-utils | tcp | env UCX_TLS=rc_x {UCX} | + {UCX_300} -t tag_bw -s 100000 | ucx | RDMA_READ 300
ucx.rc_mlx5.put        | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_x {UCX} | + {UCX_300} -t ucp_put_bw -s 65536 | ucx | RDMA_WRITE 300
ucx.rc_mlx5.get        | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_x {UCX} | + {UCX_300} -t ucp_get -s 65536 | ucx | RDMA_READ 300
ucx.rc_mlx5.add        | trixie | both | ucx-utils | tcp | env UCX_TLS=rc_x {DEVX} {UCX} | + {UCX_300} -t ucp_fadd -s 8 | ucx | ATOMIC_FA 300
ucx.dc_mlx5.tag_lat    | trixie | both | ucx-utils | tcp | env UCX_TLS=dc_x {UCX} | + {UCX_300} -t tag_lat -s 64 | ucx | SEND 600
ucx.dc_mlx5.tag_bw     | trixie | both | ucx-utils | tcp | env UCX_TLS=dc_x {UCX} | + {UCX_300} -t tag_bw -s 100000 | ucx | RDMA_READ 300
ucx.dc_mlx5.put        | trixie | both | ucx-utils | tcp | env UCX_TLS=dc_x {UCX} | + {UCX_300} -t ucp_put_bw -s 65536 | ucx | RDMA_WRITE 300
ucx.ud_verbs.tag_lat   | trixie | both | ucx-utils | tcp | env UCX_TLS=ud_v {UCX} | + {UCX_100} -t tag_lat -s 64 | ucx | SEND 200
ucx.ud_verbs.tag_bw    | trixie | both | ucx-utils | tcp | env UCX_TLS=ud_v {UCX} | + {UCX_100} -t tag_bw -s 20000 | ucx | SEND 500
ucx.ud_mlx5.tag_lat    | trixie | both | ucx-utils | tcp | env UCX_TLS=ud_x {UCX} | + {UCX_100} -t tag_lat -s 64 | ucx | SEND 200
ucx.ud_mlx5.tag_bw     | trixie | both | ucx-utils | tcp | env UCX_TLS=ud_x {UCX} | + {UCX_100} -t tag_bw -s 20000 | ucx | SEND 500

libfabric.msg          | both | both | libfabric-bin | tcp | {FABRIC} {MSG} -B PORT | {FABRIC} {MSG} -P PORT 127.0.0.1 | fabric | SEND 200
libfabric.dgram        | both | both | libfabric-bin | tcp | {FABRIC} {DGRAM} -B PORT | {FABRIC} {DGRAM} -P PORT 127.0.0.1 | fabric | SEND 100
libfabric.rxd          | both | both | libfabric-bin | tcp | {FABRIC} {RXD} -B PORT | {FABRIC} {RXD} -P PORT 127.0.0.1 | fabric | SEND 20

librpma                | trixie | both | librpma-dev | cm | {{rpma_copy}} serve {AT} | {{rpma_copy}} ask {AT} | ^all right | RDMA_WRITE 2, RDMA_READ 2
"""


def fabric(_server, client, _line):
    """With -c each byte is compared."""
    if not re.search(r"^\d+[km]? .*=\d", client, re.MULTILINE):
        return "the client has no table"
    return "it tells an error" if "error" in client.lower() else None


def ucx(server, client, _line):
    refuse_errors(server, client)
    return None if re.search(r"^Final:", client, re.MULTILINE) else "the client has no result"


JUDGES = {"perftest": checks.perftest, "pingpong": checks.pingpong, "ucx": ucx, "fabric": fabric}


def says(pattern):
    """A judge: the client's output has a line like PATTERN."""
    return lambda _server, client, _line: None if re.search(pattern, client, re.MULTILINE) else f"no line like: {pattern}"


@table_of(PAIRS, "listening", "server", "client", "says", "work")
def test_pair(case, bench):
    if case.package == "ucx-utils":
        bench.root.need_ucx()
    server = bench.command(case.server)
    client = bench.command(re.sub(r"^\+", f"{case.server} {HOST}", case.client))
    pair = Pair(bench.launcher, bench.adapter)
    status = pair.by_cm(server, client) if case.listening == "cm" else pair.by_port(bench.port, server, client)
    pair.judge(status, JUDGES.get(case.says) or says(case.says), client)
    bench.conclude(case.work)


# --- programs that start their ranks, or have no other side ----------------------------------------------------------------------

UCX_ON = "UCX_NET_DEVICES=mlx5_0:1 UCX_TLS"
ROOTED = "--allow-run-as-root --oversubscribe"
MPIRUN = f"mpirun.openmpi {ROOTED}"
BY_UCX, BY_OFI = "--mca pml ucx", "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm'"
APART = f"{MPIRUN} --mca pml ob1 --mca btl tcp,self"  # MPI itself keeps away from the adapter
OSHRUN = f"oshrun {ROOTED} -np 3 --mca pml ucx --mca spml ucx"
GASNET = (
    "GASNET_HOST_DETECT=hostname GASNET_SUPERNODE_MAXSIZE=1"
    " GASNET_PHYSMEM_MAX=256M GASNET_PHYSMEM_PROBE=0 LD_PRELOAD={memlock.so}"
)
RING = "ranks, 37 messages round the ring, 100000 sums: all right"
PES = "^3 PEs, 10 rounds: all right"
SUMS = "^3 ranks, sums, broadcasts and an exchange: all right"
RANKS = " && ".join(f"^rank {rank} of 3: all right" for rank in range(3))
SWEEP = "QPs were modified to RTS && enter handle_port for lid 0xbfff && enter handle_port for lid 0x1$"

# program | releases | links | package | command | what it says | what the adapter has done
# GASNet's conduit over verbs has no RoCE: it opens ports that have a LID.
ALONE = f"""
openmpi.rc_verbs   | both | both | openmpi-bin | env {UCX_ON}=rc_v,self {MPIRUN} -np 2 {BY_UCX} {{ompi_ring}} | ^2 {RING} | SEND 50
openmpi.rc_mlx5    | both | both | openmpi-bin | env {UCX_ON}=rc_x,self {MPIRUN} -np 2 {BY_UCX} {{ompi_ring}} | ^2 {RING} | SEND 50
openmpi.dc_mlx5    | both | both | openmpi-bin | env {UCX_ON}=dc_x,self {MPIRUN} -np 4 {BY_UCX} {{ompi_ring}} | ^4 {RING} | SEND 100
openmpi.ud_verbs   | both | both | openmpi-bin | env {UCX_ON}=ud_v,self {MPIRUN} -np 2 {BY_UCX} {{ompi_ring}} | ^2 {RING} | SEND 100
openmpi.libfabric  | both | both | openmpi-bin | {MPIRUN} -np 2 {BY_OFI} {{ompi_ring}} | ^2 {RING} | SEND 50
mpich.rc_verbs     | both | both | mpich | env {UCX_ON}=rc_v,self mpiexec.mpich -n 4 {{mpich_ring}} | ^4 {RING} | SEND 100
mpich.dc_mlx5      | both | both | mpich | env {UCX_ON}=dc_x,self mpiexec.mpich -n 4 {{mpich_ring}} | ^4 {RING} | SEND 100
openshmem.rc_verbs | both | both | libopenmpi-dev | env {UCX_ON}=rc_v,self {OSHRUN} {{shmem_ring}} | {PES} | RDMA_WRITE 30, RDMA_READ 30
openshmem.dc_mlx5  | both | both | libopenmpi-dev | env {UCX_ON}=dc_x,self {OSHRUN} {{shmem_ring}} | {PES} | RDMA_WRITE 30, ATOMIC_FA 30
ucc.rc_mlx5        | sid  | both | libucc-dev | env {UCX_ON}=rc_x,self {APART} -np 3 {{ucc_sum}} | {SUMS} | SEND 50, RDMA_READ 10
ucc.dc_mlx5        | sid  | both | libucc-dev | env {UCX_ON}=dc_x,self {APART} -np 3 {{ucc_sum}} | {SUMS} | SEND 50, RDMA_READ 10
gasnet.ibv         | sid  | ib   | libgasnet-dev | env {GASNET} {APART} -np 3 {{gasnet_ibv}} | {RANKS} | RDMA_WRITE 15, RDMA_READ 15
gasnet.ucx         | sid  | both | libgasnet-dev | env {GASNET} {UCX_ON}=rc_x,self {APART} -np 3 {{gasnet_ucx}} | {RANKS} | RDMA_READ 15
srp_daemon         | both | ib   | srptools | ibsrpdm -v -d /dev/infiniband/umad0 | {SWEEP} | CQE 10
"""


@table_of(ALONE, "line", "says", "work")
def test_alone(case, bench):
    need(bench.run(case.line), case.says)
    bench.conclude(case.work)


# --- programs of the subnet ------------------------------------------------------------------------------------------------------


def diags(_settings):
    """What the machine's own infiniband-diags have to find, the newer ones find, too. They use libibumad, which is the release's."""
    for release in RELEASES["both"]:
        for name, line, says in rows(ANSWERS):
            fields = dict(program=name, release=release, link="ib", package="infiniband-diags", libs="debian", line=line, says=says)
            yield Case(f"newer.{release}.diags.{name}.ib.debian", limit=LIMIT, options=SUBNET.options, **fields)


@cases(diags)
def test_diags(case, bench):
    need(bench.run(case.line), case.says)
    bench.adapter.check_and_stop()


# --- DPDK ------------------------------------------------------------------------------------------------------------------------


def forwards(settings):
    for release in RELEASES["both"]:
        for libs in ("ours", "debian") if settings.all else ("ours",):
            yield Case(f"newer.{release}.testpmd.roce.{libs}", release=release, libs=libs, limit=LIMIT)


@cases(forwards)
def test_testpmd(case, roots, settings, launcher, work):
    """testpmd with its driver's usual options, so that its port steers by direct rules of root tables: each frame comes back."""
    root = roots.get(case.release)
    root.need("dpdk-dev")
    script = mirror_script(work, settings.device, root.program("frame_mirror"))
    mirror_run(settings, launcher, work, root.line(case.libs, ["bash", str(script)]))


# --- around a program of verbs -----------------------------------------------------------------------------------------------------

# program | releases | links | package | what stands in front of the client | what is in the file OUTPUT, or in the client's output
AROUND = r"""
bwrap.read_only | both | both | bubblewrap | bwrap --ro-bind / / --dev-bind /dev /dev --proc /proc --unshare-user --unshare-pid |
bwrap.alone     | both | both | bubblewrap | bwrap --bind / / --dev /dev --proc /proc --unshare-all --share-net |
firejail        | both | both | firejail | firejail --quiet --noprofile |
firejail.seccomp| both | both | firejail | firejail --quiet --noprofile --seccomp --private-tmp --caps.drop=all |
strace          | both | both | strace | strace -f -o OUTPUT | execve\("/usr/bin/ibv_rc_pingpong" && /dev/infiniband/uverbs0" && exited with 0
ltrace          | both | both | ltrace | ltrace -f -o OUTPUT | ibv_open_device\( && ibv_create_qp\( && exited \(status 0\)
gdb             | both | both | gdb | gdb -batch -ex 'break ibv_create_qp' -ex run -ex bt -ex continue --args | ^#0 .*ibv_create_qp && exited normally
runc            | both | both | runc | runc --root RUNC/state run --bundle RUNC inside |
"""
PINGPONG = "ibv_rc_pingpong -n 200 -c -p PORT GID"


@table_of(AROUND, "around", "says")
def test_around(case, bench):
    output = bench.launcher.work / "output"
    around = case.around.replace("OUTPUT", str(output))
    client = f"{around} {PINGPONG} {HOST}"
    if case.program == "runc":
        client = container(bench, around)
    pair = Pair(bench.launcher, bench.adapter)
    line = bench.command(client)
    status = pair.by_port(bench.port, bench.command(PINGPONG), line)
    pair.judge(status, pingpong_in, line)
    if case.says:
        need(output.read_text(errors="replace") if "OUTPUT" in case.around else pair.client.text(), case.says)
    bench.conclude("SEND 400")


def pingpong_in(server, client, _line):
    """Both have 200 iterations, whatever else what is around the client says."""
    return checks.pingpong(server, client, ["-n", "200"])


def container(bench, around):
    """The shell's command that makes a bundle of the whole root, with a /proc and /dev of its own, and runs the client in it."""
    bundle = bench.launcher.work / "bundle"
    (bundle / "rootfs").mkdir(parents=True)
    gid = GIDS[bench.case.link]["GID"]
    client = PINGPONG.replace("PORT", str(bench.port)).replace("GID", gid).split() + [HOST]
    configuration = {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": client,
            "cwd": "/",
            "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        },
        "root": {"path": "rootfs"},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755"]},
        ],
        "linux": {"namespaces": [{"type": name} for name in ("pid", "mount", "ipc", "uts")]},
    }
    (bundle / "config.json").write_text(json.dumps(configuration))
    mounts = f"mount --rbind / {bundle}/rootfs && mount -t cgroup2 none /sys/fs/cgroup"
    return f"sh -c '{mounts} && exec {around.replace('RUNC', str(bundle))}'"


# --- programs that know nothing of RDMA, by librspreload -----------------------------------------------------------------------------

# program | releases | links | package | the beginning of its programs' names
STORES = """
redis  | both | both | redis-server  | redis
valkey | both | both | valkey-server | valkey
"""
PRELOADS = {"ours": "{stage}/lib/rsocket/librspreload.so.1", "debian": "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so.1"}
VALUE = "".join(f"{n:08x}" for n in range(50000))  # as long as several messages


def stores(settings):
    """On ours alone: redis 8 aborts on the release's own librspreload."""
    return [case for case in expanded(STORES, ("prefix",), settings) if case.libs == "ours"]


@cases(stores)
def test_store(case, bench):
    """Several connections at once, then a long value there and back; a save while they are there forks."""
    before = bench.adapter.listeners()
    server = bench.launcher.start(preloaded(bench, "server --port PORT --bind 127.0.0.1 --dir /tmp --dbfilename dump --save ''"), "server")
    bench.launcher.wait_until(lambda: bench.adapter.listeners() > before, server)
    ask(bench, "benchmark -h 127.0.0.1 -p PORT -c 8 -n 500 -t set,get -q", "benchmark")
    value = bench.launcher.work / "value"
    value.write_text(VALUE)
    with value.open("rb") as stdin:
        need(ask(bench, "cli -h 127.0.0.1 -p PORT -x set value", "set", stdin=stdin), "^OK")
    need(ask(bench, "cli -h 127.0.0.1 -p PORT bgsave", "save"), "^Background saving started")
    if ask(bench, "cli -h 127.0.0.1 -p PORT get value", "get").strip() != VALUE:
        raise Failure("another value comes back")
    (bench.launcher.work / "get.log").unlink()
    ask(bench, "cli -h 127.0.0.1 -p PORT shutdown nosave", "shutdown")
    status = server.wait(bench.launcher.limit)
    if status:
        raise Failure(f"the server ends with {describe(status, bench.launcher.limit)}")
    bench.conclude("RDMA_WRITE_IMM 1000")


def preloaded(bench, text):
    library = PRELOADS[bench.case.libs].format(stage=bench.root.settings.stage)
    return bench.command(f"env LD_PRELOAD={library} {bench.case.prefix}-{text}")


def ask(bench, text, name, **options):
    process, status = bench.launcher.run(preloaded(bench, text), name, **options)
    if status:
        raise Failure(f"{name}: {describe(status, bench.launcher.limit)}")
    return process.text()


@cases([Case(f"newer.{release}.valkey.without_rdma", release=release, limit=LIMIT) for release in RELEASES["both"]])
def test_without_rdma(case, roots, launcher):
    """Debian builds valkey without its own RDMA. When it no longer does, that needs a case here."""
    root = roots.get(case.release)
    root.need("valkey-server")
    listen = "valkey-server --port 0 --rdma-bind 127.0.0.1 --rdma-port 6399"
    need(launcher.run(root.line("debian", listen), "server")[0].text(), "(Missing implement of|Failed finding) connection .*rdma")
