# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that know nothing of rsockets, on librspreload: a server with a process for each connection, iperf3, redis, nginx,
memcached (as a user without rights) and haproxy with their clients, and what they move is compared; a server without RDMA; each call by
all its names; CPython's own tests of sockets.

With --all some run with and without RDMAV_FORK_SAFE, and socat and Python's forking server. All run once more where the network loses
a packet of a hundred: with --all, and some always. The adapter's log tells that it was used: somebody listens there.
"""
import difflib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import ports
from harness.adapter import Spec
from harness.cases import Case, cases
from harness.checks import Failure, has_complaint
from harness.cm import STOPPED
from harness.ports import free_port
from harness.process import describe
from harness.settings import CONSUMERS

BIG = 3000001
ASKED = 200000  # bytes of each connection to fork-echo
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
PEERS = [os.path.realpath(shutil.which("python3") or "/usr/bin/python3"), str(CONSUMERS / "tcp_peers.py")]

NGINX = """daemon off;
user root;
worker_processes WORKERS;
pid WORK/pid;
error_log WORK/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path WORK/body; proxy_temp_path WORK/proxy; fastcgi_temp_path WORK/fastcgi;
	uwsgi_temp_path WORK/uwsgi; scgi_temp_path WORK/scgi;
	server { listen 127.0.0.1:PORT; root WORK; }
}
"""
HAPROXY = """global
	nbthread 1
defaults
	mode http
	timeout connect LIMITs
	timeout client LIMITs
	timeout server LIMITs
frontend adapter
	bind 127.0.0.1:PORT
	default_backend plain
backend plain
	server one 127.0.0.1:BACKEND
"""


LOSSY = Spec("ib", ("--verbose", "--fault", "loss:1%"), label="loss")
LOST_BY_DEFAULT = ("iperf3", "redis", "nginx_3", "memcached")
OF_DEBIAN = "debian"


def on_links(*names, long=False, needs=(), **fields):
    """A table of these cases on each link layer, some in the long form only, and where packets are lost; NEEDS are programs that must be
    there. A name that ends with fork_safe is run so.
    """

    def case_of(place, name, spec):
        return Case(f"{place}.preload.{name}", adapter=spec, needs=needs, fork_safe=name.endswith(".fork_safe"),
                    words=name.split(".")[0].split("_"), **fields)  # fmt: skip

    def table(settings):
        if settings.all or not long:
            for link in ("ib", "roce"):
                for name in names:
                    yield case_of(link, name, Spec(link, ("--verbose",)))
        for name in names:
            if OF_DEBIAN not in name and (settings.all or (name in LOST_BY_DEFAULT and not settings.quick)):
                yield case_of("loss", name, LOSSY)

    return table


def either(*tables):
    return cases(lambda settings: [case for table in tables for case in table(settings)])


class Preloaded:
    """Runs a server, and its clients, on librspreload."""

    def __init__(self, case, settings, launcher, adapter):
        self.case, self.settings, self.launcher, self.adapter = case, settings, launcher, adapter
        self.port = free_port()
        self.before = adapter.listeners()
        self.server = None

    def line(self, origin, *command):
        """The command line of a program on the librspreload of ORIGIN. One that drops its rights is out of softhca's reach."""
        env = ["env", f"LD_LIBRARY_PATH={self.settings.libdir}", f"LD_PRELOAD={self.settings.libdir}/rsocket/librspreload.so.1"]
        if origin == "debian":
            env = ["env", f"LD_PRELOAD={debians_library()}"]
        return self.adapter.on([*env, *(["RDMAV_FORK_SAFE=1"] if self.case.fork_safe else []), *map(str, command)])

    def serve(self, origin, *command):
        """Starts a server, which listens at the port by rdma_cm or (to begin with) by TCP."""
        self.server = self.launcher.start(self.line(origin, *command), "server")
        if self.case.fork_safe:
            listening = lambda: ports.listens(self.port)  # noqa: E731
        else:
            listening = lambda: self.adapter.listeners() > self.before  # noqa: E731
        self.launcher.wait_until(listening, self.server)  # if it does not, the client says what is wrong

    def ask(self, name, *command, origin="ours", **options):
        """Runs a client that succeeds; its output."""
        process, status = self.launcher.run(self.line(origin, *command), name, **options)
        if status:
            raise Failure(f"{name}: {describe(status, self.launcher.limit)}")
        return process.text()

    def get_by_many(self, wanted, *command):
        """Three clients at the same time, each of whose output is WANTED."""
        clients = []
        for number in range(3):
            path = self.launcher.work / f"got{number}"
            with open(path, "wb") as file:
                clients.append((path, self.launcher.start(self.line("ours", *command), f"client{number}", stdout=file)))
        for path, client in clients:
            status = client.wait(self.launcher.limit)
            if status:
                raise Failure(f"{client.log.stem}: {describe(status, self.launcher.limit)}")
            if path.read_bytes() != wanted:
                raise Failure(f"{client.log.stem}: other bytes came")

    def end(self):
        """The server ends by itself, and the adapter was used."""
        status = self.server.wait(self.launcher.limit)
        if status:
            raise Failure(f"server: {describe(status, self.launcher.limit)}")
        self.need_use()

    def stop(self):
        """The server goes on until it is stopped, and the adapter was used."""
        if self.server.is_gone():
            raise Failure(f"the server ended by itself, {describe(self.server.popen.returncode)}")
        if self.server.stop(self.launcher.limit) not in (0, *STOPPED):
            raise Failure(f"server: {describe(self.server.popen.returncode)} when it was stopped")
        self.need_use()

    def need_use(self):
        if not self.launcher.wait_until(lambda: self.adapter.listeners() > self.before):
            raise Failure("the adapter was not used")
        if self.server and has_complaint(self.server.text()):
            raise Failure("a sanitizer complained")


def debians_library():
    found = sorted(Path("/usr/lib").glob("*/rsocket/librspreload.so.1"))
    if not found:
        pytest.skip("there is no librspreload of Debian's here")
    return found[0]


@pytest.fixture
def preloaded(case, settings, launcher, adapter):
    for program in case.needs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    return Preloaded(case, settings, launcher, adapter)


@pytest.fixture
def big(work):
    (work / "big").write_bytes(os.urandom(BIG))
    return work / "big"


# --- processes that share a listener ---------------------------------------------------------------------------------------------------


def fork_echo(preloaded, mode, connections, origins=("ours", "ours")):
    """The bytes of each connection come back, and no process of the server's fails."""
    program = preloaded.settings.build / "tests" / "consumers" / "fork-echo"
    preloaded.serve(origins[0], program, mode, preloaded.port, connections)
    text = preloaded.ask("client", program, "ask", preloaded.port, connections, ASKED, origin=origins[1])
    if f"{connections} connections, {ASKED} bytes each, are the same" not in text:
        raise Failure("bytes do not come back")
    preloaded.end()
    # A daemon's first process has ended; its last line comes when all of its workers have.
    if not preloaded.launcher.wait_until(lambda: re.search(r"^\d+ failed$", preloaded.server.text(), re.MULTILINE)):
        raise Failure("the server does not say how many of its processes have failed")
    if not re.search(r"^0 failed$", preloaded.server.text(), re.MULTILINE):
        raise Failure("a process of the server's has failed")


@either(
    on_links("fork_echo.ours--ours.fork_safe", origins=("ours", "ours"), connections=10),
    on_links("fork_echo.ours--debian.fork_safe", origins=("ours", "debian"), connections=1),
    on_links("fork_echo.debian--ours.fork_safe", origins=("debian", "ours"), connections=4, long=True),
)
def test_fork_echo(case, preloaded):
    if case.origins[0] == "debian":  # a process of Debian's that was killed has left the lock that all others wait for
        Path("/dev/shm/sem.rsocket_fork").unlink(missing_ok=True)
    fork_echo(preloaded, "serve", case.connections, case.origins)


@either(on_links("workers", connections=8), on_links("daemon", connections=4))
def test_workers(case, preloaded):
    """The server listens and starts its workers, as ordinary servers do; or it does so in the background."""
    fork_echo(preloaded, case.words[0], case.connections)


# --- servers of others -------------------------------------------------------------------------------------------------------------------


@either(on_links("iperf3", needs=["iperf3"]), on_links("iperf3.fork_safe", needs=["iperf3"], long=True))
def test_iperf(preloaded):
    preloaded.serve("ours", "iperf3", "-s", "-1", "-p", preloaded.port)
    text = preloaded.ask("client", "iperf3", "-c", "127.0.0.1", "-p", preloaded.port, "-n", "4M", "-i", "0")
    if not re.search(r" (3\.[89]\d*|4\.\d+) MBytes .* receiver$", text, re.MULTILINE):
        raise Failure("the receiver has not 4 MB")
    preloaded.end()


REDIS = ("redis-server", "redis-benchmark", "redis-cli")


@either(on_links("redis", needs=REDIS), on_links("redis.fork_safe", needs=REDIS, long=True))
def test_redis(preloaded, launcher, work):
    """Several connections at once, then a value as long as several messages, there and back; a save while they are there forks."""
    at = ["-h", "127.0.0.1", "-p", preloaded.port]
    value = work / "value"
    value.write_text(os.urandom(200000).hex())
    preloaded.serve("ours", "redis-server", "--port", preloaded.port, "--bind", "127.0.0.1", "--dir", work, "--save", "",
                    "--dbfilename", "dump")  # fmt: skip
    text = preloaded.ask("benchmark", "redis-benchmark", *at, "-c", "8", "-n", "1000", "-t", "set,get", "-q")
    if not all(re.search(rf"\b{test}: [1-9][0-9.]* requests per second", text) for test in ("SET", "GET")):
        raise Failure("redis-benchmark has no result")
    with open(value, "rb") as file:
        answers = [preloaded.ask("set", "redis-cli", *at, "-x", "set", "value", stdin=file)]
    answers.append(preloaded.ask("bgsave", "redis-cli", *at, "bgsave"))
    if answers != ["OK\n", "Background saving started\n"] or not launcher.wait_until((work / "dump").exists):
        raise Failure(f"the answers are {answers}, or nothing was saved")
    if preloaded.ask("get", "redis-cli", *at, "get", "value") != value.read_text() + "\n":
        raise Failure("another value came back")
    preloaded.ask("shutdown", "redis-cli", *at, "shutdown", "nosave")
    preloaded.end()


NGINX_NEEDS = ("nginx", "curl")


@either(
    on_links("nginx_2.fork_safe", "nginx_3", needs=NGINX_NEEDS),
    on_links("nginx_1", needs=NGINX_NEEDS, long=True),
)
def test_nginx(case, preloaded, work, big):
    conf = NGINX.replace("WORKERS", case.words[1]).replace("WORK", str(work)).replace("PORT", str(preloaded.port))
    (work / "conf").write_text(conf)
    preloaded.serve("ours", "nginx", "-p", work, "-c", work / "conf")
    preloaded.get_by_many(big.read_bytes(), "curl", "-s", f"http://127.0.0.1:{preloaded.port}/big")
    os.kill(int((work / "pid").read_text()), 15)
    preloaded.end()


@either(on_links("memcached", needs=("memcached", "setpriv")))
def test_memcached(settings, preloaded, big):
    """A server without rights."""
    user = NOBODY if os.getuid() == 0 else []
    if subprocess.run([*user, "test", "-r", settings.libdir / "libibverbs.so.1"]).returncode:
        pytest.skip(f"{settings.libdir} is not for everybody to read")
    preloaded.serve("ours", *user, "memcached", "-U", "0", "-l", "127.0.0.1", "-p", preloaded.port)
    if "500000 bytes came back" not in preloaded.ask("client", *PEERS, "memcached", preloaded.port, big):
        raise Failure("another value came back")
    preloaded.stop()


def serve_plainly(launcher, port, *command):
    """Starts a server that knows nothing of the adapter."""
    server = launcher.start(command, "plain", breaks=False)
    if not launcher.wait_until(lambda: ports.listens(port), server):
        raise Failure("the server without RDMA does not come up")
    return server


@either(on_links("haproxy", needs=("haproxy", "curl")))
def test_haproxy(preloaded, launcher, work, big):
    """Clients on the adapter, and a server behind the proxy that knows nothing of it."""
    (work / "www").mkdir()
    shutil.copy(big, work / "www" / "big")
    backend = free_port()
    serve_plainly(launcher, backend, PEERS[0], "-m", "http.server", backend, "--bind", "127.0.0.1", "--directory", work / "www")
    conf = HAPROXY.replace("LIMIT", str(launcher.limit)).replace("PORT", str(preloaded.port)).replace("BACKEND", str(backend))
    (work / "conf").write_text(conf)
    preloaded.serve("ours", "haproxy", "-f", work / "conf")
    preloaded.get_by_many(big.read_bytes(), "curl", "-s", f"http://127.0.0.1:{preloaded.port}/big")
    preloaded.stop()


@either(on_links("socat.fork_safe", needs=["socat"], long=True))
def test_socat(preloaded, big):
    """Many processes of one program, each with a connection of its own."""
    preloaded.serve("ours", "socat", f"TCP4-LISTEN:{preloaded.port},bind=127.0.0.1,reuseaddr,fork", f"OPEN:{big},rdonly")
    preloaded.get_by_many(big.read_bytes(), "socat", "-u", f"TCP4:127.0.0.1:{preloaded.port}", "-")
    preloaded.stop()


@either(on_links("python.fork_safe", long=True))
def test_python(preloaded, big):
    preloaded.serve("ours", *PEERS, "serve", preloaded.port, big)
    preloaded.get_by_many(big.read_bytes(), *PEERS, "get", preloaded.port)
    preloaded.stop()


def stream_result(text):
    return re.findall(r"^custom +\S+ +10 +2 +\S+ ", text, re.MULTILINE)


@either(on_links("rstream_fork.fork_safe", long=True))
def test_rstream(preloaded, programs):
    """rstream's server with a process for each connection has ordinary sockets."""
    line = [programs.path("ours", "rstream"), "-p", preloaded.port, *"-T s -T v -S 30000 -C 10 -I 2".split()]
    preloaded.serve("ours", *line, "-T", "f")
    for number in range(2):
        if len(stream_result(preloaded.ask(f"client{number}", *line, "-s", "127.0.0.1"))) != 1:
            raise Failure("a client has no result")
    preloaded.stop()


# --- the system's sockets ----------------------------------------------------------------------------------------------------------------


def get_from_plain(preloaded, launcher, big, wanted, *command):
    """A client on librspreload gets bytes from a server that knows nothing of RDMA."""
    server = serve_plainly(launcher, preloaded.port, *PEERS, "serve", preloaded.port, big)
    with open(launcher.work / "got", "wb") as file:
        process, status = launcher.run(preloaded.line("ours", *command), "client", stdout=file)
    if status:
        raise Failure(describe(status, launcher.limit))
    if (launcher.work / "got").read_bytes() != wanted or server.is_gone():
        raise Failure("other bytes came")


@either(on_links("plain_server"))
def test_plain_server(preloaded, launcher, big):
    """A server that knows nothing of RDMA is reached by TCP."""
    get_from_plain(preloaded, launcher, big, big.read_bytes(), *PEERS, "plain", preloaded.port)


@either(on_links("late_answer"))
def test_late_answer(preloaded, launcher, adapter, big):
    """Three connections that do not wait, and whose first packet is lost, so that "nobody there" comes seconds later."""
    lose = ["env", "-u", "LD_PRELOAD", *adapter.fault("loss:1")]
    get_from_plain(preloaded, launcher, big, 2 * big.read_bytes(), *PEERS, "late", preloaded.port, free_port(), *lose)


# --- calls -------------------------------------------------------------------------------------------------------------------------------


@either(on_links("calls"))
def test_calls(preloaded, settings):
    """Each call by each of its names gives what it gives for TCP."""
    program = [settings.build / "tests" / "consumers" / "socket-calls", preloaded.port]
    plain, status = preloaded.launcher.run(program, "plain")
    lines = plain.text().splitlines()
    if status or lines[-1:] != ["every call was made"] or any("IS WRONG" in line for line in lines):
        raise Failure("the program does not work with TCP")
    have = preloaded.ask("preloaded", *program).splitlines()
    if have != lines:
        raise Failure("\n".join(["other lines than with TCP:", *difflib.unified_diff(lines, have, lineterm="", n=1)]))
    preloaded.need_use()


# CPython's own tests, in as many processes as take about as long as each other
CPYTHON = [("test_socket", 0, 3), ("test_socket", 1, 3), ("test_socket", 2, 3), ("test_selectors", 0, 1), ("test_socketserver", 0, 1)]
CPYTHON_LIMIT = 400  # seconds: they wait, and with --all for a minute for what never comes


def cpython_cases(settings):
    if settings.quick:
        return []
    return [Case(f"{link}.preload.cpython", adapter=Spec(link, ("--verbose",)), needs=(), fork_safe=False)
            for link in (("ib", "roce") if settings.all else ("roce",))]  # fmt: skip


@cases(cpython_cases)
def test_cpython(settings, preloaded, launcher):
    """But for what RDMA cannot do, of which cpython_sockets.py has a list with reasons."""
    if not importlib.util.find_spec("test.test_socket"):
        pytest.skip("the tests of CPython are not installed (libpython3.11-testsuite on Debian 12)")
    form = ["--all"] if settings.all else []
    program = ["/usr/bin/python3", CONSUMERS / "cpython_sockets.py"]
    parts = [launcher.start(preloaded.line("ours", *program, *part, *form), f"cpython{number}") for number, part in enumerate(CPYTHON)]
    for process in parts:
        status = process.wait(CPYTHON_LIMIT)
        if status or not re.search(r"^test_\w+: [1-9]\d* tests, 0 failed, \d+ skipped by CPython$", process.text(), re.MULTILINE):
            raise Failure(f"{process.log.stem}: {describe(status, CPYTHON_LIMIT)}, or a test has failed", process.log)
    preloaded.need_use()


@either(on_links("epoll_pwait"))
def test_epoll_pwait(preloaded, settings):
    """A program that waits by epoll_pwait() has rsockets."""
    text = preloaded.ask("client", settings.build / "tests" / "consumers" / "pwait-echo", preloaded.port)
    if "200000 bytes came back" not in text:
        raise Failure("other bytes came")
    preloaded.need_use()
