# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rdma_cm programs, ours and Debian's, on softhca's rdma_cm: server and client each of either origin, on our libraries or
on Debian's.

With --all each case runs with every choice of programs and libraries; otherwise each runs with the most telling ones.

Covers: librdmacm/examples/, librdmacm/examples/cmtime/
"""
from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases, rows
from harness.cm import Session
from harness.programs import words

# NAME | SERVER | CLIENT | CLIENTS, if there are several. The server of NAME+ goes on until it is stopped.
OF_BOTH = """
rping             | rping -s -V -v -C 20         | rping -c -V -v -C 20 -a 127.0.0.1
rping_large       | rping -s -V -v -C 3 -S 65000 | rping -c -V -v -C 3 -S 65000 -a 127.0.0.1
rping_own_qp      | rping -s -q -V               | rping -c -q -V -v -C 5 -a 127.0.0.1
rping_persistent+ | rping -s -P -V               | rping -c -V -v -C 20 -a 127.0.0.1 | 8
ucmatose          | ucmatose -c 100 -C 5 -S 100 | ucmatose -c 100 -C 5 -S 100 -s 127.0.0.1
ucmatose_options  | ucmatose -c 5 -m -t 3     | ucmatose -c 5 -m -t 3 -a 12 -s 127.0.0.1
ucmatose_ib       | ucmatose -P ib -S 5000    | ucmatose -P ib -S 5000 -s 127.0.0.1
udaddy            | udaddy -c 4               | udaddy -c 4 -s 127.0.0.1
udaddy_ipoib      | udaddy -p 2               | udaddy -p 2 -s 127.0.0.1
cmtime+           | cmtime                    | cmtime -c 1000 -s 127.0.0.1
rdma_server       | rdma_server               | rdma_client -s 127.0.0.1
rdma_xserver      | rdma_xserver              | rdma_xclient -s 127.0.0.1
rdma_xserver_xrc  | rdma_xserver -c x         | rdma_xclient -c x -s 127.0.0.1
mckey             | mckey -m 224.1.2.3 -C 4 -c 2 -b 198.18.0.1 | mckey -s -m 224.1.2.3 -C 4 -c 2 -b 198.18.0.1
"""
# Programs of ours alone: what Debian's got later, see tests/abi/releases for those.
CMTIME = "cmtime -C 127.0.0.1 -p PORT -b 127.0.0.1"
OF_OURS = f"""
cmtime_together | {CMTIME} -c 20 -L             | {CMTIME} -c 20 -q 3000
cmtime_threads  | {CMTIME} -c 20 -n 3 -m 200 -L | {CMTIME} -c 20 -n 3 -m 200 -q 3000
cmtime_three    | {CMTIME} -c 5 -P 3 -L         | {CMTIME} -c 5 -P 3 | 2
"""
# NAME | COMMAND of both sides
PERFTEST = """
perftest_lat   | ib_send_lat -F -R -n 100
perftest_write | ib_write_bw -F -R -n 100 -q 4
"""
# These also run with our libraries on one side and Debian's on the other.
MIXED = ("rping", "ucmatose", "udaddy", "rdma_xserver_xrc")
QUICKLY = ("rping", "ucmatose", "udaddy", "rdma_server", "rdma_xserver_xrc", "mckey", "perftest_lat")


def some_choices(settings, link, name):
    """Each program of ours as server and as client, on either pair of libraries, and against Debian's."""
    server, client = ("ours", "debian") if link == "ib" else ("debian", "ours")
    yield server, client, "ours", "ours"
    # Debian's libraries on both sides say nothing about a sanitized build of ours.
    if not settings.quick and not settings.sanitized:
        yield client, server, "debian", "debian"
    if not settings.quick and name in MIXED:
        yield "ours", "debian", "ours", "debian"


def all_choices(settings, name):
    for server, client in (("ours", "debian"), ("debian", "ours"), ("ours", "ours"), ("debian", "debian")):
        yield server, client, "ours", "ours"
    if not settings.sanitized:
        yield "ours", "debian", "debian", "debian"
        yield "debian", "ours", "debian", "debian"
    if name in MIXED:
        yield "ours", "ours", "ours", "debian"
        yield "debian", "debian", "debian", "ours"


def choices(settings, link, name):
    """Programs and libraries of both sides: (server, client, its libraries, the client's libraries)."""
    chosen = all_choices(settings, name) if settings.all else some_choices(settings, link, name)
    # Debian's rping frees its channel under its own event thread (docs/known-issues.md), which a sanitized library sees.
    ours_only = settings.sanitized and name.startswith("rping")
    return dict.fromkeys(("ours", "ours", *choice[2:]) if ours_only else choice for choice in chosen)


def choices_of_one(settings, origin):
    """The choices of programs that only one origin has."""
    yield origin, origin, "ours", "ours"
    if settings.all and not settings.sanitized:
        yield origin, origin, "debian", "debian"


def case_of(link, name, choice, **fields):
    """A case of a program; choice is (server, client, its libraries, the client's libraries)."""
    server, client, server_libs, client_libs = choice
    full = f"{link}.rdmacm.{name}.{server}-on-{server_libs}--{client}-on-{client_libs}"
    return Case(full, adapter=Spec(link, ("--verbose",)), choice=choice, **fields)


def is_run(settings, name):
    return not settings.quick or name in QUICKLY


def table(settings):
    for link in ("ib", "roce"):
        for row in rows(OF_BOTH):
            name = row[0].rstrip("+")
            if is_run(settings, name):
                for choice in choices(settings, link, name):
                    yield case_of(link, name, choice, program=row[1].split()[0], row=row)
        for row in rows(OF_OURS):
            if is_run(settings, row[0]):
                for choice in choices_of_one(settings, "ours"):
                    yield case_of(link, row[0], choice, program=row[1].split()[0], row=row)


def perftest_table(settings):
    for link in ("ib", "roce"):
        for name, command in rows(PERFTEST):
            if is_run(settings, name):
                for choice in choices_of_one(settings, "debian"):
                    yield case_of(link, name, choice, program=command.split()[0], command=command)


@cases(table)
def test_program(case, launcher, adapter, programs, port):
    name, server, client, *clients = case.row
    origins, libs = case.choice[:2], case.choice[2:]
    lines = [
        programs.line(origins[side], libs[side], *words(command.replace("PORT", str(port))))
        for side, command in enumerate((server, client))
    ]
    Session(launcher, adapter).run(*lines, origins, count=int(clients[0]) if clients else 1, stops=name.endswith("+"))


@cases(perftest_table)
def test_perftest(case, programs, pair):
    server, client = (programs.debian(libs, case.command) for libs in case.choice[2:])
    pair.check(checks.perftest, None, server, client)
