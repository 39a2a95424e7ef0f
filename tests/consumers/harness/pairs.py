# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A server and its client, on one adapter or on one network. The client begins when the server listens.

A server listens on a TCP port, or by rdma_cm, which the log of an adapter with --verbose tells.
"""
import re
import time

from harness import ports
from harness.checks import Failure, has_complaint
from harness.process import TIMED_OUT, describe

# Perftest's server listens a second time, for its QPs, when it has exchanged parameters with the client by a first connection.
# A client that connects before that is rejected (a datagram's, unreachable), and perftest crashes, on any libraries.
TOO_EARLY = re.compile(r"Event: RDMA_CM_EVENT_(REJECTED; error: 8|UNREACHABLE; error: 1)\b")
TRIES = 20
STATE_LOST = ["wait for RDMA_READ_ADV state 8", "rping server failed: -1"]  # 8: RDMA_WRITE_ADV
NO_CLOCK, CLOCK_TRIES = "Can't produce a report", 5


def cm_status(origin, status, text):
    """The status of a program of rdma_cm that has printed TEXT.

    Debian's rping destroys its event channel while a thread of its own may be about to ask it for the next event: then that thread
    ends the program with a complaint, after all went well and the connection was over. Its thread of completions may also write
    another state over the disconnection that its thread of events has noted; then the server fails, though it saw the end.
    """
    if origin == "debian" and status == 255 and " DISCONNECT EVENT" in text:
        lines = text.splitlines()
        if "rdma_get_cm_event: Bad file descriptor" in lines or lines[-2:] == STATE_LOST:
            return 0
    return status


class Pair:
    """Runs pairs of one case on its adapter. Lines are those of programs.line(), without the adapter."""

    def __init__(self, launcher, adapter):
        self.launcher, self.adapter = launcher, adapter
        self.server = self.client = None

    def texts(self):
        return [side.text() if side else "" for side in (self.server, self.client)]

    def run(self, listening, server, client, **options):
        """Runs both command lines, the client's as soon as LISTENING() holds; the statuses of server and client."""
        self.server = self.launcher.start(server, "server", **options)
        self.client = None
        self.launcher.wait_until(listening, self.server)  # if it does not, the client says what is wrong
        self.client, status = self.launcher.run(client, "client", **options)
        if status:  # a server whose client has failed may wait for ever
            time.sleep(0.2)
            self.server.stop()
            return self.server.popen.returncode, status
        return self.server.wait(self.launcher.limit), status

    def by_port(self, port, server, client):
        """Runs a server that listens on a TCP port, and its client; a status that is not 0, if either has one.

        Again, where perftest has moved its data and then gives up its report, as it could not measure the clock on a busy machine.
        """
        status = 0
        for attempt in range(1, CLOCK_TRIES + 1):
            status = client_first(self.run(lambda: ports.listens(port), server, client))
            if not status or not any(NO_CLOCK in text for text in self.texts()):
                break
            print(f"try {attempt}: perftest could not measure the clock", flush=True)
        return status

    def by_cm(self, server, client):
        """The same for a server that listens by rdma_cm; again as long as perftest's client was too early."""
        status = 0
        for attempt in range(1, TRIES + 1):
            before = self.adapter.listeners()
            status = client_first(self.run(lambda: self.adapter.listeners() > before, server, client))
            if not status or not TOO_EARLY.search(self.client.text()):
                break
            print(f"try {attempt}: the client was too early for the server's second listen", flush=True)
        return status

    def check(self, judge, port, server, client):
        """Runs a pair on the adapter, the client against this host, and fails unless all was done.

        Perftest's -R and -z listen by rdma_cm. JUDGE is one of harness.checks: (server's text, client's text, client's line).
        """
        client = client + ["127.0.0.1"]
        if "-R" in server or "-z" in server:
            status = self.by_cm(self.adapter.on(server), self.adapter.on(client))
        else:
            status = self.by_port(port, self.adapter.on(server), self.adapter.on(client))
        self.judge(status, judge, client)

    def judge(self, status, judge, line):
        """Fails for a status, a sanitizer's complaint, or output that does not show the work."""
        if status:
            raise Failure(describe(status, self.launcher.limit))
        texts = self.texts()
        if any(map(has_complaint, texts)):
            raise Failure("a sanitizer complained")
        reason = judge(*texts, line)
        if reason:
            raise Failure(reason)


def client_first(statuses):
    """One status of a pair: a client's that is not 0, else the server's."""
    server, client = statuses
    return client or server


def is_timeout(status):
    return status == TIMED_OUT
