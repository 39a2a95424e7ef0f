# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""rstream, riostream, rcopy and udpong, ours and Debian's, server and client each on its own libraries, which so have to speak
the same protocol; with --quick ours with ours, and one case of each with Debian's. Each runs once more, ours with ours, where the
network loses a packet of a hundred: with --all, and some always.

Covers: librdmacm/examples/, librdmacm/rsocket/stream/io.c, librdmacm/rsocket/stream/iomap.c
"""
import os
import re

from harness import ports
from harness.adapter import Spec
from harness.cases import Case, cases, rows
from harness.checks import Failure, has_complaint, option
from harness.cm import STOPPED, Session
from harness.pairs import Pair
from harness.process import describe

# NAME | PROGRAM | OPTIONS of both sides | ADDRESS of the server, if not 127.0.0.1
STREAMS = """
lat                | rstream   | -S 64 -I 100 -C 1 -T v
bw                 | rstream   | -S 100000 -I 2 -C 20 -T v
async              | rstream   | -S 100000 -I 2 -C 20 -T a -T v
blocking           | rstream   | -S 3000 -I 2 -C 100 -T b -T r -T v
nonblocking        | rstream   | -S 3000 -I 2 -C 100 -T n -T v
ipv6               | rstream   | -S 3000 -I 2 -C 100 -f ipv6 -T v | ::1
gid                | rstream   | -S 3000 -I 2 -C 100 -f gid -T v | gid
keepalive          | rstream   | -S 1000 -I 2 -C 10 -k 1
small_buffer       | rstream   | -S 20000 -I 2 -C 10 -B 3000 -T v
mapped             | riostream | -S 64 -I 50 -C 1
defaults           | rstream   | -S 64 -T v
mapped_defaults    | riostream | -S 64 -T v
mapped_large       | riostream | -S 30000 -I 3 -C 4 -T v
mapped_blocking    | riostream | -S 3000 -I 3 -C 20 -T b -T v
mapped_nonblocking | riostream | -S 3000 -I 3 -C 20 -T n -T v
mapped_async       | riostream | -S 3000 -I 3 -C 20 -T a -T v
"""
# These also run with Debian's on one side in the quick form.
MIXED = ("lat", "bw", "gid", "mapped_large", "defaults", "mapped_defaults")
# NAME | OPTIONS of both sides
DATAGRAMS = """
echo     | -S 100 -C 200 -T e
async    | -S 1000 -C 200 -T a
blocking | -S 2000 -C 100 -T b
"""
# The network that loses packets; these run there by default, too.
LOSSY = Spec("ib", ("--verbose", "--fault", "loss:1%"), label="loss")
LOST_BY_DEFAULT = ("bw", "async", "nonblocking", "mapped_large", "rcopy", "close")
COPIED = 3000001
ATTEMPTS = 10


def case_of(link, name, server, client, **fields):
    full = f"{link}.rsockets.{name}.{server}--{client}"
    return Case(full, adapter=Spec(link, ("--verbose",)), origins=(server, client), **fields)


def loses(settings, name):
    return settings.all or (name in LOST_BY_DEFAULT and not settings.quick)


def lossy_case(name, **fields):
    return Case(f"loss.rsockets.{name}", adapter=LOSSY, origins=("ours", "ours"), **fields)


def on_links(name, *origins):
    def table(settings):
        for link in ("ib", "roce"):
            for sides in origins:
                yield case_of(link, name, *sides)
        if loses(settings, name):
            yield lossy_case(name)

    return cases(table)


def choices(settings, name):
    """The origins of server and client."""
    yield "ours", "ours"
    if settings.quick and name not in MIXED:
        return
    yield "debian", "ours"
    if name.endswith("async"):
        return  # Debian's client takes a server that has closed first for a failure
    yield "ours", "debian"
    # Debian on Debian says nothing about a sanitized build of ours.
    if not settings.quick and not settings.sanitized:
        yield "debian", "debian"


def streams(settings):
    for link in ("ib", "roce"):
        for name, program, options, *address in rows(STREAMS):
            if address == ["gid"] and link != "ib":
                continue  # addresses of AF_IB are InfiniBand's only
            for sides in choices(settings, name):
                yield case_of(link, name, *sides, program=program, options=options, address=(address or ["127.0.0.1"])[0])
    for name, program, options, *address in rows(STREAMS):
        if loses(settings, name):
            yield lossy_case(name, program=program, options=options, address=(address or ["127.0.0.1"])[0])


def datagrams(settings):
    """Debian's datagrams do not connect on RoCE."""
    for link in ("ib", "roce"):
        for name, options in rows(DATAGRAMS):
            for sides in (("ours", "ours"), ("debian", "ours"), ("ours", "debian")):
                if link == "ib" or "debian" not in sides:
                    yield case_of(link, f"udpong_{name}", *sides, options=options)
    for name, options in rows(DATAGRAMS):
        if settings.all:
            yield lossy_case(f"udpong_{name}", options=options)


def result(text):
    """The first five fields of the line of results: custom, bytes, transfers, iterations, total."""
    found = re.search(r"^custom +(\S+) +(\S+) +(\S+) +(\S+) +\d+\.\d+s ", text, re.MULTILINE)
    return found.groups() if found else None


def stream(server, client, line):
    """Both sides have the line of results, with what they were asked for."""
    results = result(server), result(client)
    if None in results or results[0] != results[1]:
        return f"the results are {results}"
    for value, flag in zip(results[0][1:], ("-C", "-I")):
        if flag in line and value != line[line.index(flag) + 1]:
            return f"{flag} has the result {value}"
    return None


@cases(streams)
def test_stream(case, launcher, adapter, programs, pair):
    address = case.address
    if address == "gid":
        address = launcher.run(adapter.on(["cat", "/sys/class/infiniband/mlx5_0/ports/1/gids/0"]), "gid")[0].text().strip()
    # Without -b rstream listens at 0.0.0.0 whatever -f says, and IPv4's listeners hear IPv4 only.
    bind = "-b ::1" if address == "::1" else ""
    server = programs.line(case.origins[0], case.origins[0], case.program, bind, case.options)
    client = programs.line(case.origins[1], case.origins[1], case.program, "-s", address, case.options)
    pair.judge(pair.by_cm(adapter.on(server), adapter.on(client)), stream, client)


@on_links("close", ("ours", "ours"), ("ours", "debian"))
def test_close(case, settings, launcher, adapter, programs, port):
    """How long rclose() takes when the other side has shut the connection down. The server times it; the client stays for a while."""
    session = Session(launcher, adapter)
    lines = [
        programs.debian(libs, [settings.build / "tests" / "cm" / "rsocket-close", role, port])
        for libs, role in zip(case.origins, ("serve", "shut"))
    ]
    session.serve(lines[0], "debian")
    client = launcher.start(adapter.on(lines[1]), "client")
    status = session.server.wait(launcher.limit)
    if status:
        raise Failure(describe(status, launcher.limit))
    if client.is_gone() and client.wait(0):
        raise Failure(f"client: {describe(client.wait(0))}")
    if not re.search(r"^rclose took \d+ ms$", session.server.text(), re.MULTILINE):
        raise Failure("the server does not say how long it took")


def run_and_stop(launcher, adapter, server, client, listening):
    """A server that goes on until it is stopped, and its client, which succeeds; the text of both."""
    server = launcher.start(adapter.on(server), "server")
    launcher.wait_until(listening, server)
    client, status = launcher.run(adapter.on(client), "client")
    if status:
        raise Failure(f"client: {describe(status, launcher.limit)}")
    if server.is_gone():
        raise Failure(f"the server ended by itself, {describe(server.popen.returncode)}")
    texts = server.text(), client.text()
    if server.stop() not in STOPPED:
        raise Failure(f"server: {describe(server.popen.returncode)} when it was stopped")
    if any(map(has_complaint, (server.text(), client.text()))):
        raise Failure("a sanitizer complained")
    return texts


@on_links("rcopy", ("ours", "ours"), ("ours", "debian"), ("debian", "ours"))
def test_copy(case, launcher, adapter, programs, work):
    source, target = work / "from", work / "to"
    source.write_bytes(os.urandom(COPIED))
    server = programs.line(case.origins[0], case.origins[0], "rcopy")
    client = programs.line(case.origins[1], case.origins[1], "rcopy", [source, f"127.0.0.1:{target}"])
    before = adapter.listeners()
    texts = run_and_stop(launcher, adapter, server, client, lambda: adapter.listeners() > before)
    if not all(f"{COPIED} bytes" in text for text in texts):
        raise Failure("one side does not tell the size of the file")
    if not target.exists() or source.read_bytes() != target.read_bytes():
        raise Failure("the copy differs")


def transfers(text):
    """How many datagrams have arrived, as udpong's client tells."""
    found = re.search(r"^custom +\S+ +(\d+) +\S+ +\d+\.\d+s ", text, re.MULTILINE)
    return int(found[1]) if found else -1


@cases(datagrams)
def test_datagrams(case, launcher, adapter, programs, port):
    """Where they are not echoed, datagrams may be lost. Those that went before a peer's queue pair was known went by UDP: the question
    how many have arrived may overtake all of them, so it may take several attempts until the answer is not 0.
    """
    server = programs.line(case.origins[0], case.origins[0], "udpong", f"-b 127.0.0.1 -p {port}", case.options)
    client = programs.line(case.origins[1], case.origins[1], "udpong", f"-s 127.0.0.1 -p {port}", case.options)
    wanted = option(client, "-C", 0) if "e" in client else 1
    for _ in range(ATTEMPTS):
        _, text = run_and_stop(launcher, adapter, server, client, lambda: ports.is_bound(port))
        arrived = transfers(text)
        if arrived != 0:
            break
    if arrived < wanted:
        raise Failure(f"{arrived} transfers, and not {wanted}")
