# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that were written for adapters: qperf, fio, UCX, libfabric, Open MPI, MPICH, HPC Challenge, gloo, DAPL; each as Debian ships
it, on our libraries and on Debian's, on InfiniBand and on RoCE. DPDK is in test_dpdk.py; Ceph, QEMU and iSER are in test_storage.py.

Where a program has a way to check its data, that way is taken. By default one or two cases of each program run on our libraries,
with --all all cases on both, with --quick those of RoCE.
"""
import re

import pytest

from harness import ports
from harness.applications import ADDRESS, build, judged, need_programs, table_of, traced
from harness.cases import cases, rows
from harness.checks import Failure, count, has_complaint
from harness.pairs import Pair

pytestmark = pytest.mark.own_network

# Below, the rows of each program's first table run by default, those of the LONG one with --all. LINK is where a case is confined to.


def tcp_pair(launcher, port, judge, server, client):
    """A server that listens at a TCP port, and its client."""
    pair = Pair(launcher, None)
    pair.judge(pair.by_port(port, server, client), judge, client)


# --- qperf: without rdma_cm it knows no GIDs, which RoCE needs ------------------------------------------------------------------

# NAME | OPTIONS and tests | LINK
QPERF = "qperf | rc_rdma_read_lat ver_rc_fetch_add | ib"
QPERF_LONG = """
qperf_rc     | rc_lat rc_bw rc_bi_bw rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw rc_rdma_write_poll_lat | ib
qperf_uc     | uc_lat uc_bw uc_bi_bw uc_rdma_write_lat uc_rdma_write_bw uc_rdma_write_poll_lat | ib
qperf_ud     | ud_lat ud_bw ud_bi_bw                                               | ib
qperf_atomic | rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add | ib
qperf_events | -cp 0 rc_lat ud_lat rc_rdma_read_bw                                 | ib
"""
# By rdma_cm, one at a time
QPERF_CM = """rc_lat rc_bw rc_bi_bw rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw rc_rdma_write_poll_lat
rc_compare_swap_mr ver_rc_compare_swap ver_rc_fetch_add"""
TRIES = 20


def qperf(_server, client, line):
    """Each test has a result; qperf compares the data of ver_* itself."""
    if re.search("failed|bad test", client, re.IGNORECASE):
        return "a test has failed"
    tests = [word for word in line if re.match(r"(ver_)?(rc|uc|ud)_", word)]
    for test in tests:
        if not re.search(rf"^{test}:\n +(latency|bw|send_bw|msg_rate) += +[0-9.]*[1-9][0-9.]* ", client, re.MULTILINE):
            return f"{test} has no result"
    return None if tests else "there are no tests"


def qperf_lines(on, port, options):
    """The lines of server and client. The server serves until the client says quit."""
    return on(f"qperf -lp {port}"), on(f"qperf -lp {port} -H 127.0.0.1 -t 1 {options} quit")


@cases(table_of(rows(QPERF), rows(QPERF_LONG)))
def test_qperf(case, launcher, on, port):
    need_programs("qperf")
    tcp_pair(launcher, port, qperf, *qperf_lines(on, port, case.row[1]))


@cases(table_of([], ([f"qperf_cm_{test}", test] for test in QPERF_CM.split())))
def test_qperf_by_cm(case, launcher, on, port):
    """A server of qperf tells its client the port of rdma_cm that it has bound, and listens there only then. A client that is faster is
    refused, on any libraries; then the case begins again.
    """
    need_programs("qperf")
    lines = qperf_lines(on, port, f"-cm 1 {case.row[1]}")
    for _ in range(TRIES):
        pair = Pair(launcher, None)
        status = pair.by_port(port, *lines)
        if "unexpected event from RDMA CM: Event rejected" not in pair.client.text():
            break
        print(f"{case.name}: once more, the client came before the server listened", flush=True)
    pair.judge(status, qperf, lines[1])


# --- libfabric ----------------------------------------------------------------------------------------------------------------------

# NAME | OPTIONS; -c compares each byte
FABRIC = "libfabric_msg | -p verbs -e msg -c -I 50"
FABRIC_LONG = """
libfabric_dgram | -p verbs -e dgram -c -I 100 -S 1024
libfabric_rxd   | -p 'verbs;ofi_rxd' -e rdm -c -I 50
"""
SIZES = 6  # that fi_pingpong tries


def fabric_results(text):
    return count(r"^[0-9]+[km]? +\d+ +=\d+ ", text)


def fabric(server, client, line):
    """Both sides have a line for each size."""
    sizes = 1 if "-S" in line else SIZES
    for side, text in (("server", server), ("client", client)):
        if fabric_results(text) < sizes or re.search("error", text, re.IGNORECASE):
            return f"the {side} has {fabric_results(text)} results"
    return None


@cases(table_of(rows(FABRIC), rows(FABRIC_LONG)))
def test_libfabric(case, launcher, on, port):
    need_programs("fi_pingpong")
    server, client = on(f"fi_pingpong -B {port}", case.row[1]), on(f"fi_pingpong -P {port}", case.row[1], "127.0.0.1")
    tcp_pair(launcher, port, fabric, server, client)


@cases(table_of([], [["libfabric_rdm"]]))
def test_libfabric_rdm(launcher, on, port):
    """At their end both sides of fi_pingpong send a last word and wait for the other's. ofi_rxm's connection closes when it hears that
    the other side is gone, and the queue pair takes a last word with it that was in the completion queue and not yet read: then one
    side waits for ever, on any libraries and any adapter. So what counts is that each has all its lines, which come before that.
    """
    need_programs("fi_pingpong")
    line = on("stdbuf -oL fi_pingpong -p 'verbs;ofi_rxm' -e rdm -c -I 20")
    server = launcher.start([*line, "-B", port], "server")
    launcher.wait_until(lambda: ports.listens(port), server)
    client = launcher.start([*line, "-P", port, "127.0.0.1"], "client")
    for side in (server, client):
        launcher.wait_until(lambda: fabric_results(side.text()) >= SIZES, side)
    reason = fabric(server.text(), client.text(), line)
    if reason or has_complaint(server.text() + client.text()):
        raise Failure(reason or "a sanitizer complained")


# --- UCX ----------------------------------------------------------------------------------------------------------------------------

# NAME | TRANSPORTS | TEST | SETTING | LINK: rc_v and ud_v use verbs, rc_x, ud_x and dc_x direct verbs. With tags and QPs made by
# DevX, UCX 1.13 ends by an assertion of its own on RoCE v2 (a LID that stands for a UDP port). MP_SRQ: WQEs of strides, which UCX
# takes if it can; y makes it an error if it cannot.
UCX = """
rc_verbs           | rc_v | -t tag_lat -s 64
rc_mlx5            | rc_x | -t ucp_put_bw -s 65536
rc_mlx5_tags       | rc_x | -t tag_bw -s 100000 | UCX_RC_MLX5_TM_ENABLE=y UCX_RC_MLX5_TM_MP_SRQ_ENABLE=y | ib
rc_mlx5_tags_v1    | rc_x | -t tag_bw -s 100000 | UCX_RC_MLX5_TM_ENABLE=y UCX_RC_MLX5_TM_MP_SRQ_ENABLE=y UCX_IB_GID_INDEX=0 | roce
rc_mlx5_tags_verbs | rc_x | -t tag_bw -s 100000 | UCX_RC_MLX5_TM_ENABLE=y UCX_IB_MLX5_DEVX=n
dc_mlx5            | dc_x | -t ucp_put_bw -s 65536
"""
UCX_LONG = """
rc_verbs_bw     | rc_v | -t tag_bw -s 300000
rc_mlx5_tags_whole | rc_x | -t tag_bw -s 100000 | UCX_RC_MLX5_TM_ENABLE=y UCX_RC_MLX5_TM_MP_SRQ_ENABLE=n | ib
rc_mlx5_tags_lat   | rc_x | -t tag_lat -s 3000  | UCX_RC_MLX5_TM_ENABLE=y | ib
rc_verbs_put    | rc_v | -t ucp_put_bw -s 65536
rc_verbs_get    | rc_v | -t ucp_get -s 65536
rc_verbs_add    | rc_v | -t ucp_fadd
rc_verbs_wakeup | rc_v | -t tag_lat -s 64 -E sleep
rc_mlx5_lat     | rc_x | -t tag_lat -s 64
rc_mlx5_bw      | rc_x | -t tag_bw -s 300000
rc_mlx5_get     | rc_x | -t ucp_get -s 65536
rc_mlx5_add     | rc_x | -t ucp_fadd
ud_verbs        | ud_v | -t tag_lat -s 64
ud_verbs_bw     | ud_v | -t tag_bw -s 20000
ud_mlx5         | ud_x | -t tag_lat -s 64
ud_mlx5_bw      | ud_x | -t tag_bw -s 20000
dc_mlx5_lat     | dc_x | -t tag_lat -s 64      | UCX_DC_MLX5_TX_POLICY=dcs_quota
dc_mlx5_get     | dc_x | -t ucp_get -s 65536   | UCX_DC_MLX5_TX_POLICY=dcs
dc_mlx5_add     | dc_x | -t ucp_fadd           | UCX_DC_MLX5_TX_POLICY=rand
"""
# The same with completions that come in runs; the adapter has to have made some.
UCX_RUNS = "rc_mlx5_runs | rc_x | -n 3000 -t tag_bw -s 300 | UCX_RC_MLX5_CQE_ZIPPING_ENABLE=y"
UCX_RUNS_LONG = """
rc_mlx5_runs_large | rc_x | -t tag_bw -s 100000           | UCX_RC_MLX5_CQE_ZIPPING_ENABLE=y
rc_mlx5_runs_put   | rc_x | -n 3000 -t ucp_put_bw -s 300  | UCX_RC_MLX5_CQE_ZIPPING_ENABLE=y
dc_mlx5_runs       | dc_x | -n 3000 -t tag_bw -s 300      | UCX_DC_MLX5_CQE_ZIPPING_ENABLE=y
"""
# TEST | OPCODE: QPs and SRQs that UCX makes by commands of its own (DevX), and what an adapter does of its atomics
UCX_DEVX = """
tag_bw -s 100000
ucp_fadd -s 8 | ATOMIC_FA
ucp_fadd -s 4 | MASKED_FA
"""
UCX_DEVX_LONG = """
tag_lat -s 64
ucp_am_bw -s 1000
ucp_put_bw -s 65536
ucp_get -s 65536
ucp_cswap -s 8 | ATOMIC_CS
ucp_cswap -s 4 | MASKED_CS
ucp_swap -s 8  | MASKED_CS
"""
DEVX_OBJECTS = ("UCX_IB_MLX5_DEVX=y", "UCX_IB_MLX5_DEVX_OBJECTS=rcqp,rcsrq")


def ucx_rows(text, link_field=4):
    """Rows of UCX: the name, transports, test and setting as one field, and the link."""
    for row in rows(text):
        row += [""] * (link_field + 1 - len(row))
        yield [f"ucx_{row[0]}", row[1:link_field], row[link_field]]


def devx_rows(text):
    for row in rows(text):
        yield ["ucx_devx_" + row[0].replace(" -s ", "_"), (row + [""])[:2], ""]


def has_transports(device, row):
    """Whether adapters of that kind have UCX' transports; those by direct verbs are for mlx5."""
    return device == "mlx5" or "_x" not in str(row[1])


def ucx(server, client, line):
    """The client has done its iterations, the last number that it was given."""
    iterations = [line[at + 1] for at, word in enumerate(line) if word == "-n"][-1]
    if not re.search(rf"^Final: +{iterations} ", client, re.MULTILINE):
        return "the client has no result"
    return "UCX tells errors" if "ERROR" in server + client else None


def run_ucx(case, settings, launcher, on, port):
    need_programs("ucx_perftest")
    transports, test, setting = case.row[1]
    line = f"env {setting} UCX_TLS={transports} UCX_NET_DEVICES={settings.device}_0:1 ucx_perftest -p {port}"
    tcp_pair(launcher, port, ucx, on(line), on(line, f"127.0.0.1 -n 300 -w 20 {test}"))


@cases(table_of(ucx_rows(UCX), ucx_rows(UCX_LONG), has_transports))
def test_ucx(case, settings, launcher, on, port):
    run_ucx(case, settings, launcher, on, port)


def compressed(adapter):
    """Completions in runs, of all completion queues that are gone so far."""
    return sum(map(int, re.findall(r"CQ 0x[0-9a-f]*: (\d+) completions were compressed", adapter.process.text())))


@cases(table_of(ucx_rows(UCX_RUNS), ucx_rows(UCX_RUNS_LONG), has_transports))
def test_ucx_runs(case, settings, launcher, adapter, on, port):
    before = compressed(adapter)
    run_ucx(case, settings, launcher, on, port)
    if not launcher.wait_until(lambda: compressed(adapter) > before):
        raise Failure("no completion came in a run")


def made_by_devx(trace):
    """How many QPs and memory regions for SRQs were made by commands of a program's own: a command, and then the call that had it."""
    made, total = False, 0
    for line in trace.read_text(errors="replace").splitlines():
        words = line.split()
        if len(words) > 3 and words[1] == "cmd":
            made = words[3] in ("CREATE_QP", "CREATE_RMP") and " status 0x00 " in line
        elif len(words) > 1 and words[1] == "verbs":
            total += made and "DEVX_OBJ_CREATE: ok" in line
            made = False
    return total


def need_devx(trace):
    """UCX falls back in silence, so the adapter's trace has to show its queues."""
    if made_by_devx(trace) < 2:
        raise Failure("UCX has not made its queues by DevX")


def is_mlx5(device, _row):
    return device == "mlx5"


@cases(table_of(devx_rows(UCX_DEVX), devx_rows(UCX_DEVX_LONG), is_mlx5))
def test_ucx_devx(case, settings, launcher, programs, port, work):
    need_programs("ucx_perftest")
    test, opcode = case.row[1]
    line = programs.debian(case.libs, "env UCX_TLS=rc_x,self UCX_NET_DEVICES=mlx5_0:1", DEVX_OBJECTS, f"ucx_perftest -p {port}")
    client = [*line, *f"127.0.0.1 -n 300 -w 20 -t {test}".split()]
    reason = ucx(*traced(case, settings, launcher, port, line, client), client)
    if reason:
        raise Failure(reason)
    need_devx(work / "trace")
    if opcode and not re.search(rf"wqe send .* {opcode} ", (work / "trace").read_text(errors="replace")):
        raise Failure(f"the adapter has executed no {opcode}")


# --- MPI, gloo, HPC Challenge ---------------------------------------------------------------------------------------------------------

# NAME | RANKS | MPIRUN'S OPTIONS | LINK: Debian's openib module is built without rdma_cm, which it needs on RoCE.
MPI = """
ucx_dc | 4 | --mca pml ucx -x UCX_TLS=dc_x,self -x UCX_NET_DEVICES=DEVICE_0:1
ucx    | 2 | --mca pml ucx -x UCX_TLS=rc_v,self -x UCX_NET_DEVICES=DEVICE_0:1
openib | 2 | --mca pml ob1 --mca btl openib,self --mca btl_openib_allow_ib 1 | ib
"""
MPI_LONG = """
ucx_runs      | 2 | --mca pml ucx -x UCX_TLS=rc_x,self -x UCX_NET_DEVICES=DEVICE_0:1 -x UCX_RC_MLX5_CQE_ZIPPING_ENABLE=y
ucx_direct    | 2 | --mca pml ucx -x UCX_TLS=rc_x,self -x UCX_NET_DEVICES=DEVICE_0:1
ucx_datagrams | 2 | --mca pml ucx -x UCX_TLS=ud_v,self -x UCX_NET_DEVICES=DEVICE_0:1
"""
MPIRUN = "mpirun --allow-run-as-root --oversubscribe"


def mpi_rows(text):
    for name, ranks, options, *link in rows(text):
        yield [f"mpi_{name}", (ranks, options), *link]


def need_ring(text, ranks):
    if not re.search(rf"^{ranks} ranks, .*: all right$", text, re.MULTILINE):
        raise Failure(f"{ranks} ranks do not say that all is right")


@cases(table_of(mpi_rows(MPI), mpi_rows(MPI_LONG), has_transports))
def test_mpi(case, settings, launcher, on):
    need_programs("mpirun", "mpicc")
    ring = build(settings, "mpi_ring", "mpicc -O2", "mpi_ring.c")
    ranks, options = case.row[1]
    line = on(MPIRUN, f"-np {ranks}", options.replace("DEVICE", settings.device), [ring])
    need_ring(judged(*launcher.run(line, "mpirun"), launcher.limit), ranks)


@cases(table_of([], [["mpi_ucx_devx", "", ""]], is_mlx5))
def test_mpi_devx(case, settings, launcher, programs, work):
    need_programs("mpirun", "mpicc")
    ring = build(settings, "mpi_ring", "mpicc -O2", "mpi_ring.c")
    exports = " ".join(f"-x {setting}" for setting in ("UCX_TLS=rc_x,self", "UCX_NET_DEVICES=mlx5_0:1", *DEVX_OBJECTS))
    host = [settings.softhca, "run", "--link", case.link, *settings.faults, "--trace", work / "trace", "--"]
    line = [*host, *programs.debian(case.libs, MPIRUN, "-np 2 --mca pml ucx", exports, [ring])]
    need_ring(judged(*launcher.run(line, "mpirun"), launcher.limit), 2)
    need_devx(work / "trace")


@cases(table_of([["mpich"]]))
def test_mpich(settings, launcher, on):
    """Four ranks, whose only way from rank to rank is UCX by the adapter."""
    need_programs("mpiexec.mpich", "mpicc.mpich")
    ring = build(settings, "mpich_ring", "mpicc.mpich -w -O2", "mpi_ring.c")
    line = on(f"env UCX_TLS=rc_v,self UCX_NET_DEVICES={settings.device}_0:1 mpiexec.mpich -n 4", [ring])
    need_ring(judged(*launcher.run(line, "mpiexec"), launcher.limit), 4)


@cases(table_of([["hpcc"]]))
def test_hpcc(settings, launcher, on, work):
    """HPC Challenge on four ranks, with matrices of 200 by 200; it checks what it computes."""
    need_programs("hpcc", "mpirun")
    with open("/usr/share/doc/hpcc/examples/_hpccinf.txt", encoding="utf-8") as example:
        text = re.sub("^80  ", "20  ", re.sub("^1000 ", "200  ", example.read(), flags=re.MULTILINE), flags=re.MULTILINE)
    (work / "hpccinf.txt").write_text(text)
    line = on(MPIRUN, f"-np 4 --mca pml ucx -x UCX_TLS=rc_v,self -x UCX_NET_DEVICES={settings.device}_0:1 hpcc")
    limit = launcher.limit if settings.broken else 4 * launcher.limit
    judged(*launcher.run(line, "mpirun", limit=limit, cwd=work), limit)
    results = (work / "hpccoutf.txt").read_text().splitlines() if (work / "hpccoutf.txt").exists() else []
    if "CommWorldProcs=4" not in results or "Success=1" not in results:
        raise Failure("a wrong result, or none")


@cases(table_of([["gloo"]]))
def test_gloo(settings, launcher, on, work):
    """Four ranks of gloo's transport over verbs, which sum vectors."""
    need_programs("g++")
    program = build(settings, "gloo_ranks", "g++ -O2", "gloo_ranks.cc", "-lgloo")
    (work / "store").mkdir()
    ranks = [launcher.start(on([program, work / "store", rank, 4, 16, f"{settings.device}_0"]), f"rank{rank}") for rank in range(4)]
    for rank, process in enumerate(ranks):
        if f"rank {rank} of 4: all right" not in judged(process, process.wait(launcher.limit), launcher.limit):
            raise Failure(f"rank {rank} does not say that all is right")


# --- DAPL and fio ---------------------------------------------------------------------------------------------------------------------


@cases(table_of([["dapl", "", "ib"]]))
def test_dapl(settings, launcher, on, work):
    """DAPL's own test, server and client; the provider exchanges addresses by TCP (scm), at a port of its own. Its addresses are LIDs."""
    need_programs("dtest")
    (work / "dat.conf").write_text(f'softhca u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "{settings.device}_0 1" ""\n')
    line = on(f"env DAT_OVERRIDE={work}/dat.conf dtest -P softhca -D -B 10 -b 65536")

    def passed(server, client, _line):
        return None if all("DAPL Test Complete. PASSED" in text for text in (server, client)) else "a side has not passed"

    tcp_pair(launcher, 45248, passed, line, [*line, "-h", "127.0.0.1"])


# NAME | VERB | DEPTH | BLOCK | SIZE: fio's receiver gives its senders no second chance (RNR), and has 16 receives posted: so many are
# sent. Only what is received can be verified.
FIO = """
fio_send | send | 1 | 64k | 1m
fio_read | read | 8 | 64k | 8m
"""
FIO_LONG = """
fio_write       | write | 1  | 4k  | 1m
fio_write_deep  | write | 16 | 64k | 16m
fio_write_large | write | 4  | 1m  | 64m
fio_read_deep   | read  | 16 | 4k  | 4m
fio_send_large  | send  | 1  | 1m  | 16m
"""


def fio_rows(text):
    for name, *fields in rows(text):
        yield [name, fields]


def fio(server, client, line):
    """No side has errors, and the client has moved all its bytes."""
    size = next(word for word in line if word.startswith("--size=")).partition("=")[2]
    for side, text in (("server", server), ("client", client)):
        if count(r": err= 0: ", text) != 1:
            return f"the {side} does not say that it had no errors"
    moved = re.search(r"io=(\d+)(?:\.\d+)?([KMG]i)?B", client)
    wanted = int(size[:-1])
    if not moved or (int(moved[1]), moved[2]) not in ((wanted, "Mi"), (1024 * wanted, "Ki")):
        return f"the client has moved {moved[0] if moved else 'nothing'} of {size}"
    return None


@cases(table_of(fio_rows(FIO), fio_rows(FIO_LONG)))
def test_fio(case, launcher, adapter, on, port, work):
    need_programs("fio")
    verb, depth, block, size = case.row[1]
    verify = "--verify=crc32c" if verb == "send" else ""
    both = f"fio --ioengine=rdma --port={port} --bs={block} --size={size} {verify}"
    server = on(both, "--name=receiver --rw=read --iodepth=16")
    client = on(both, f"--name=sender --hostname={ADDRESS} --verb={verb} --rw=write --iodepth={depth}", "--do_verify=0" if verify else "")
    before = adapter.listeners()
    pair = Pair(launcher, None)
    server_status, status = pair.run(lambda: adapter.listeners() > before, server, client, cwd=work)
    pair.judge(status or server_status, fio, client)
