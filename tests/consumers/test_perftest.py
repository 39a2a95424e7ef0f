# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's perftest in every mode that needs no direct verbs: each program with each transport that it has and each way to use it,
on our libraries; with --all on Debian's, too.

The tables are rows of programs, transports and variants; a variant names the programs and transports that it is for by patterns.
By default one case runs for each variant that test_crosswise.py and test_transports.py do not have; with --all, all of them.
"""
from fnmatch import fnmatchcase

import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows
from harness.programs import words

pytestmark = pytest.mark.own_network

PROGRAMS = "send_bw send_lat write_bw write_lat read_bw read_lat atomic_bw atomic_lat".split()

# TRANSPORT | OPTIONS | PROGRAMS
TRANSPORTS = """
    rc  | -c RC     | *
    uc  | -c UC     | send_* write_*
    ud  | -c UD     | send_*
    xrc | -c XRC    | *
    srq | --use-srq | send_*
"""
# VARIANT | OPTIONS | PROGRAM.TRANSPORT: patterns of what it is for; "!" in front: of what it is not for
VARIANTS = """
    plain                    |                                         | *
    all_sizes                | -a -n 8                                 | send_*.* write_*.* read_*.*
    events                   | -e                                      | send_*.* read_*.* atomic_*.* !*.srq
    inline                   | -s 64 -I 64                             | send_*.* write_*.*
    rdma_cm                  | -R                                      | *_bw.rc *_lat.rc send_*.ud
    by_rdma_cm               | -z                                      | *.rc
    mtu                      | -m 1024 -s 1000                         | *.rc *.uc !atomic_*.*
    old_post                 | --use_old_post_send                     | *
    warm_up                  | --perform_warm_up                       | *.rc !atomic_*.*
    bidirectional            | -b                                      | *_bw.*
    qps                      | -q 8                                    | *_bw.rc *_bw.uc *_bw.xrc *_bw.srq
    qps_bidirectional_events | -q 8 -b -e                              | send_bw.rc read_bw.rc atomic_bw.rc
    every_completion         | -q 32 -b -e -Q 1 -t 64 -r 64            | send_bw.rc
    depth                    | -t 16                                   | *_bw.*
    deep                     | -t 1024                                 | *_bw.*
    receive_depth            | -t 16 -r 32                             | send_bw.rc send_bw.xrc
    list                     | -l 8 -s 512                             | send_bw.* write_bw.* read_bw.*
    list_inline              | -l 4 -s 32 -I 32                        | send_bw.rc send_bw.ud write_bw.uc
    receive_list             | --recv_post_list 8                      | send_bw.rc send_bw.uc
    duration                 | -D 1                                    | *_bw.rc !atomic_*.* send_bw.ud
    region_each              | --mr_per_qp -q 4                        | *_bw.rc
    rate                     | --rate_limit 1 --rate_limit_type SW -s 4096 | send_bw.rc write_bw.rc
    reversed                 | --reversed                              | write_bw.rc
    both_reports             | -b --report-both                        | send_bw.rc
    no_peak                  | -N                                      | *_bw.rc
    gigabits                 | --report_gbits                          | *_bw.uc
    vector                   | -e -X 1                                 | send_bw.rc send_lat.rc
    compare                  | -A CMP_AND_SWAP                         | atomic_*.*
    outstanding              | -o 4                                    | read_*.rc atomic_*.rc
    timeout                  | -u 16                                   | *_bw.xrc
    demand                   | --odp                                   | send_bw.rc write_bw.rc read_bw.rc
    multicast                | -g -x 1                                 | send_bw.ud send_lat.ud
"""
DEFAULT = (
    "mtu every_completion receive_depth receive_list list_inline region_each rate both_reports outstanding demand multicast".split()
)
VARIANTS_ROCE = """
    multicast                | -g -x 1                                 | send_bw.ud
    mtu                      | -m 1024 -s 1000                         | send_bw.rc
"""


def fits(patterns, word):
    """Whether one of the patterns matches, and none with "!" does."""
    patterns = patterns.split()
    if any(fnmatchcase(word, pattern[1:]) for pattern in patterns if pattern.startswith("!")):
        return False
    return any(fnmatchcase(word, pattern) for pattern in patterns)


def has_variant(variant, link, settings):
    """Whether the adapter has what the variant is about.

    With an IPv4 GID, perftest says that its group's does not fit. On InfiniBand a group is joined through the subnet manager, which
    perftest asks by a device that there is none of (umad).
    """
    if variant == "multicast":
        return link != "ib"
    return variant != "demand" or settings.device != "mlx4"


def variants(link, settings):
    for variant, options, patterns in rows(VARIANTS if settings.all or link == "ib" else VARIANTS_ROCE):
        if (settings.all or variant in DEFAULT) and has_variant(variant, link, settings):
            yield variant, options, patterns


def combinations(patterns):
    """Each program with each transport that the patterns are for: (program, transport, its options)."""
    for transport, options, programs in rows(TRANSPORTS):
        for program in PROGRAMS:
            if fits(programs, program) and fits(patterns, f"{program}.{transport}"):
                yield program, transport, options


def limit_of(variant, settings):
    """Seconds for a case of it.

    With each line that it prints, perftest measures for a quarter of a second how fast the CPU's clock goes, polling the time; a
    latency of all sizes has 23 lines, and as many programs as a busy machine has share its CPUs.
    """
    return settings.limit * (4 if variant == "all_sizes" else 1)


def perftests(settings):
    for link in ("ib", "roce"):
        for libs in ("ours", "debian") if settings.all else ("ours",):
            for variant, options, patterns in variants(link, settings):
                chosen = list(combinations(patterns))
                if not settings.all:  # another one for each variant
                    number = len(variant) % 3
                    chosen = chosen[number : number + 1]
                for program, transport, transport_options in chosen:
                    yield Case(
                        f"{link}.perftest.{program}.{transport}.{variant}.{libs}",
                        adapter=Spec(link, ("--verbose",)),
                        limit=limit_of(variant, settings),
                        libs=libs,
                        line=f"ib_{program} -F -n 128 {transport_options} {options}",
                    )


@cases(perftests)
def test_perftest(case, programs, pair, port):
    line = programs.debian(case.libs, words(case.line, f"-p {port}"))
    pair.check(checks.perftest, port, line, line)
