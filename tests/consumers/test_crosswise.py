# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""{our programs, Debian's} on {our libraries, Debian's}, each talking to the same and to the other.

Options of a row go to both sides. Perftest chooses and checks its own traffic; the pingpong server checks each byte with -c.
Debian on Debian shows what the adapter is worth by itself.
"""
import itertools

import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows

pytestmark = pytest.mark.own_network

# NAME | PROGRAM | OPTIONS | only this origin: with -e and -t, Debian's program gives up when it finds the completion of an event
# polled already, on any adapter.
PINGPONG = """
    poll               | ibv_rc_pingpong   | -c
    events             | ibv_rc_pingpong   | -c -e
    wr_api             | ibv_rc_pingpong   | -c -N
    timestamps         | ibv_rc_pingpong   | -c -t
    events_timestamps  | ibv_rc_pingpong   | -c -e -t | ours
    inline             | ibv_rc_pingpong   | -c -s 32 -n 3000
    unaligned          | ibv_rc_pingpong   | -c -s 5003 -m 256
    large              | ibv_rc_pingpong   | -c -s 1048576 -n 100 -m 4096
    few_receives       | ibv_rc_pingpong   | -c -r 4
    uc                 | ibv_uc_pingpong   | -c
    uc_events          | ibv_uc_pingpong   | -c -e
    ud                 | ibv_ud_pingpong   | -c
    ud_events          | ibv_ud_pingpong   | -c -e -s 32
    srq                | ibv_srq_pingpong  | -c
    srq_events         | ibv_srq_pingpong  | -c -e -q 3 -n 100
    xsrq               | ibv_xsrq_pingpong | -n 20
    xsrq_events        | ibv_xsrq_pingpong | -n 20 -e
"""
PINGPONG_MLX5 = """
    device_memory      | ibv_rc_pingpong   | -c -j -s 1024 -n 100
    on_demand          | ibv_rc_pingpong   | -c -o -n 100
    on_demand_implicit | ibv_rc_pingpong   | -c -O -P -n 100
"""
# NAME | PROGRAM | OPTIONS
PERFTEST = """
    send_bw                  | ib_send_bw    | -s 4096
    send_bw_8qp              | ib_send_bw    | -s 4096 -q 8
    send_bw_bidir            | ib_send_bw    | -s 4096 -b
    send_bw_events           | ib_send_bw    | -s 4096 -e
    send_bw_8qp_bidir_events | ib_send_bw    | -s 4096 -q 8 -b -e
    send_bw_old_api          | ib_send_bw    | -s 4096 --use_old_post_send
    send_bw_list             | ib_send_bw    | -s 512 -l 8
    send_bw_inline           | ib_send_bw    | -s 64 -I 64
    send_lat                 | ib_send_lat   | -s 16
    send_lat_events          | ib_send_lat   | -s 16 -e
    send_lat_large           | ib_send_lat   | -s 65536
    write_bw                 | ib_write_bw   | -s 65536
    write_bw_8qp             | ib_write_bw   | -s 65536 -q 8
    write_bw_bidir           | ib_write_bw   | -s 65536 -b
    write_bw_old_api         | ib_write_bw   | -s 65536 --use_old_post_send
    write_bw_list            | ib_write_bw   | -s 512 -l 8
    write_lat                | ib_write_lat  | -s 16
    read_bw                  | ib_read_bw    | -s 65536
    read_bw_8qp              | ib_read_bw    | -s 65536 -q 8
    read_bw_bidir            | ib_read_bw    | -s 65536 -b
    read_bw_events           | ib_read_bw    | -s 65536 -e
    read_lat                 | ib_read_lat   | -s 16
    read_lat_events          | ib_read_lat   | -s 16 -e
    atomic_bw                | ib_atomic_bw  |
    atomic_bw_cmp            | ib_atomic_bw  | -A CMP_AND_SWAP
    atomic_bw_8qp            | ib_atomic_bw  | -q 8
    atomic_bw_bidir          | ib_atomic_bw  | -b
    atomic_bw_events         | ib_atomic_bw  | -e
    atomic_lat               | ib_atomic_lat |
    atomic_lat_events        | ib_atomic_lat | -e
    all_sizes                | ib_send_bw    | -n 20 -a
"""
# Those that also run with our libraries on one side and Debian's on the other
PERFTEST_MIXED = "send_bw send_lat_events write_bw_8qp read_bw_bidir atomic_lat".split()
# Between adapters of both kinds, on one network
KINDS = """
    rc            | ibv_rc_pingpong  | -c -n 200
    uc            | ibv_uc_pingpong  | -c -n 200
    ud            | ibv_ud_pingpong  | -c -n 200
    srq           | ibv_srq_pingpong | -c -n 200
    send_bw_ud    | ib_send_bw       | -F -n 200 -c UD
    write_bw_8qp  | ib_write_bw      | -F -n 200 -s 65536 -q 8
    read_bw_bidir | ib_read_bw       | -F -n 200 -s 65536 -b
    atomic_bw     | ib_atomic_bw     | -F -n 200
"""

# What addresses are for, which the other link layer has otherwise: there all run with --all, and in the quick form few on either.
CHOSEN = {
    ("ib", False): "poll events wr_api uc ud srq xsrq large send_bw send_bw_8qp_bidir_events write_bw write_lat read_bw read_lat"
    " atomic_bw send_lat_events write_bw_8qp read_bw_bidir atomic_lat",
    ("ib", True): "poll ud send_bw",
    ("roce", True): "poll events wr_api large uc ud srq xsrq send_bw send_bw_8qp_bidir_events write_bw write_lat read_bw read_lat"
    " atomic_bw",
}
LINKS = ("roce", "ib")
BOTH = ("ours", "debian")
# Sides that differ, as (server's program, server's libraries, client's program, client's libraries)
CROSSED = [
    ("ours", "ours", "debian", "debian"),
    ("debian", "debian", "ours", "ours"),
    ("ours", "debian", "debian", "ours"),
]


def is_chosen(name, link, settings):
    if not settings.quick and (settings.all or settings.only):
        return True
    names = CHOSEN.get((link, settings.quick))
    return names is None or name in names.split()


def sides_of(only):
    """Who talks to whom."""
    for origin in [only] if only else BOTH:
        for libs in BOTH:
            yield (origin, libs, origin, libs)
    yield from [] if only else CROSSED


def pingpong_options(link, options, settings):
    gid = "" if link == "ib" else " -g 0"
    few = " -n 200" if settings.quick and " -n " not in options else ""
    return options + gid + few


def pingpongs(settings):
    table = PINGPONG + (PINGPONG_MLX5 if settings.device == "mlx5" else "")
    for link in LINKS:
        for name, program, options, *only in rows(table):
            if not is_chosen(name, link, settings):
                continue
            for sides in sides_of(*only or [""]):
                # Debian's libmlx4 has no ibv_wr_*.
                if settings.device == "mlx4" and name == "wr_api" and (sides[1], sides[3]) != ("ours", "ours"):
                    continue
                full = "{}.pingpong.{}.{}_on_{}--{}_on_{}".format(link, name, *sides)
                options_here = pingpong_options(link, options, settings)
                yield Case(full, adapter=Spec(link), program=program, options=options_here, sides=sides)


def perftests(settings):
    for link in LINKS:
        for name, program, options in rows(PERFTEST):
            if not is_chosen(name, link, settings):
                continue
            # Debian on Debian says nothing about a sanitized build of ours.
            libraries = [("ours", "ours")] + ([] if settings.sanitized else [("debian", "debian")])
            if name in PERFTEST_MIXED:
                libraries += [("ours", "debian"), ("debian", "ours")]
            for server, client in libraries:
                full = f"{link}.perftest.{name}.{server}--{client}"
                sides = ("debian", server, "debian", client)
                yield Case(full, adapter=Spec(link), program=program, options=f"-F -n 200 {options}", sides=sides)


@cases(lambda settings: [*pingpongs(settings), *perftests(settings)])
def test_pair(case, programs, pair, port):
    server = programs.line(*case.sides[:2], case.program, case.options, f"-p {port}")
    client = programs.line(*case.sides[2:], case.program, case.options, f"-p {port}")
    pair.check(checks.judge_of(case.program), port, server, client)


def kinds(settings):
    """The server on an adapter of one kind, the client on one of the other."""
    if settings.device != "mlx4" or settings.quick:
        return
    spec = Spec("ib", device="mlx4,mlx5", label="ib.kinds")
    devices = [("mlx4_0", "mlx5_0"), ("mlx5_0", "mlx4_0")]
    for (name, program, options), *libs, (server, client) in itertools.product(rows(KINDS), BOTH, BOTH, devices):
        full = f"ib.kinds.{name}.{server}_on_{libs[0]}--{client}_on_{libs[1]}"
        yield Case(full, adapter=spec, program=program, options=options, server=(libs[0], server), client=(libs[1], client))


@cases(kinds)
def test_kinds(case, programs, pair, port):
    def line(libs, device):
        return programs.line("debian", libs, case.program, case.options, f"-d {device} -p {port}")

    pair.check(checks.judge_of(case.program), port, line(*case.server), line(*case.client))
