# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's programs beyond RC: UC, UD, XRC, DC, shared receive queues, multicast; on our libraries and on Debian's, and with one
on each side.

Options of a row, NAME | PROGRAM | OPTIONS, go to both sides.
"""
import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows

pytestmark = pytest.mark.own_network

PINGPONG = """
    uc           | ibv_uc_pingpong   |
    uc_events    | ibv_uc_pingpong   | -e
    uc_unaligned | ibv_uc_pingpong   | -s 5003 -m 256
    ud           | ibv_ud_pingpong   |
    ud_events    | ibv_ud_pingpong   | -e
    ud_small     | ibv_ud_pingpong   | -s 7
    srq          | ibv_srq_pingpong  |
    srq_events   | ibv_srq_pingpong  | -e
    srq_many_qps | ibv_srq_pingpong  | -q 32 -n 300
    xsrq         | ibv_xsrq_pingpong |
    xsrq_events  | ibv_xsrq_pingpong | -e
"""
PERFTEST = """
    send_bw_uc             | ib_send_bw   | -c UC
    send_lat_uc            | ib_send_lat  | -c UC
    write_bw_uc            | ib_write_bw  | -c UC
    write_lat_uc           | ib_write_lat | -c UC -s 16
    send_bw_ud             | ib_send_bw   | -c UD -s 1024
    send_bw_ud_bidir_events | ib_send_bw  | -c UD -s 1024 -b -e
    send_lat_ud            | ib_send_lat  | -c UD
    send_lat_ud_inline     | ib_send_lat  | -c UD -I 64 -s 64
    send_bw_srq            | ib_send_bw   | --use-srq -q 4 -s 4096
    send_bw_srq_events     | ib_send_bw   | --use-srq -q 4 -s 4096 -e
    send_bw_xrc            | ib_send_bw   | -c XRC -s 4096
    send_lat_xrc           | ib_send_lat  | -c XRC
    write_bw_xrc           | ib_write_bw  | -c XRC
    read_bw_xrc            | ib_read_bw   | -c XRC
    atomic_bw_xrc          | ib_atomic_bw | -c XRC
"""
# A group is joined through a subnet manager on InfiniBand, which there is none of.
PERFTEST_ROCE = """
    send_bw_multicast      | ib_send_bw   | -c UD -s 512 --mcg
    send_lat_multicast     | ib_send_lat  | -c UD -s 16 --mcg
"""
PERFTEST_MLX5 = """
    send_bw_dc             | ib_send_bw    | -c DC
    send_lat_dc            | ib_send_lat   | -c DC
    send_bw_dc_streams     | ib_send_bw    | -c DC --log_dci_streams=2
    write_bw_dc            | ib_write_bw   | -c DC -q 4 -b
    write_lat_dc           | ib_write_lat  | -c DC
    write_bw_dc_streams    | ib_write_bw   | -c DC --log_dci_streams=3
    read_bw_dc             | ib_read_bw    | -c DC
    read_lat_dc            | ib_read_lat   | -c DC
    read_lat_dc_streams    | ib_read_lat   | -c DC --log_dci_streams=1
    atomic_bw_dc           | ib_atomic_bw  | -c DC
    atomic_lat_dc          | ib_atomic_lat | -c DC
"""
# The quick form. On InfiniBand only what addresses are for, which the other link layer has otherwise.
QUICK = {"roce": "uc ud srq_events xsrq send_bw_ud send_bw_srq write_bw_xrc send_bw_dc".split(), "ib": ["ud", "xsrq"]}


def tables(link, settings):
    """Each table of a link layer: the kind of its cases, options, and its rows."""
    perftest = PERFTEST
    if settings.device == "mlx5":
        perftest += PERFTEST_MLX5
    if link == "roce":
        perftest += PERFTEST_ROCE
    yield "pingpong", "" if link == "ib" else "-g 1", rows(PINGPONG)
    yield "perftest", "-F -n 200" if link == "ib" else "-F -n 200 -x 1", rows(perftest)


def pairs(settings):
    sides = [("ours", "ours")]
    if not settings.sanitized:
        sides += [("debian", "debian"), ("ours", "debian"), ("debian", "ours")]
    for link in ("roce", "ib"):
        for kind, more, table in tables(link, settings):
            for name, program, options in table:
                if settings.quick and name not in QUICK[link]:
                    continue
                for server, client in sides:
                    full = f"{link}.{kind}.{name}.{server}--{client}"
                    yield Case(full, adapter=Spec(link), program=program, options=f"{options} {more}", libs=(server, client))


@cases(pairs)
def test_pair(case, programs, pair, port):
    server, client = (programs.line("debian", libs, case.program, case.options, f"-p {port}") for libs in case.libs)
    pair.check(checks.judge_of(case.program), port, server, client)
