# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of rdma_cm: a server, its clients, and the output that shows that their work was done.

An adapter with --verbose tells when a server listens, or has joined its group.
"""
import os
import re
import signal
import time

from harness.checks import Failure, has_complaint, option
from harness.pairs import cm_status
from harness.process import describe

DONE = r"^data transfers complete\n(.*\n){0,3}test complete\nreturn status 0$"
STEPS = ("create id", "resolve addr", "resolve route", "create qp", "connect", "disconnect", "destroy")
STOPPED = (-signal.SIGTERM, 128 + signal.SIGTERM)


def program(line):
    """The name of the program in a command line that has "env ..." in front."""
    return next(os.path.basename(word) for word in line if "=" not in word and word not in ("env", "-u", "LD_LIBRARY_PATH"))


# --- judges: each takes the text and the command line of one side; a reason why its work was not done, or None ------------------


def rping(text, line):
    """With -v and -C as many pings as that print their data; without, rping ends when the connection does."""
    if "-v" not in line or "-C" not in line:
        return None if "DISCONNECT EVENT" in text else "the connection has not ended"
    pings = len(re.findall(r"ping data: rdma-ping-\d+: [A-z]", text))
    return None if pings == option(line, "-C", 0) else f"{pings} pings have their data"


def transfers(text, _line):
    """ucmatose, udaddy and mckey end so."""
    return None if re.search(DONE, text, re.MULTILINE) else "the transfers were not completed"


def ends(text, line):
    """rdma_server and its like tell how they have ended."""
    name = re.escape(program(line))
    return None if re.search(rf"\b{name}: start\n.*\b{name}: end 0\n$", text) else "it does not say that it has ended well"


def steps(text, line):
    """cmtime has a line of times for each step, and the times are not zero. Our options -C and -L make another table."""
    if "-C" in line:
        rows = re.findall(r"^(?:cm connect|connect|disconnect) +\d+ +([1-9]\d*) ", text, re.MULTILINE)
        return None if len(rows) >= 2 else "the tables have no times of connect and disconnect"
    for step in STEPS:
        if not re.search(rf"^{step} *: +\d+\.\d+ +\d+\.\d+ +\d*[1-9.]\d* +\d+\.\d+$", text, re.MULTILINE):
            return f"the table has no time of {step}"
    return None


JUDGES = {
    "rping": rping,
    "ucmatose": transfers,
    "udaddy": transfers,
    "mckey": transfers,
    "cmtime": steps,
    "rdma_server": ends,
    "rdma_client": ends,
    "rdma_xserver": ends,
    "rdma_xclient": ends,
}


def judge(process, line, origin, status, limit):
    """Fails for a status, a sanitizer's complaint, or output that does not show the work."""
    status = cm_status(origin, status, process.text())
    side = process.log.stem
    if status:
        raise Failure(f"{side}: {describe(status, limit)}")
    if has_complaint(process.text()):
        raise Failure(f"{side}: a sanitizer complained")
    reason = JUDGES[program(line)](process.text(), line)
    if reason:
        raise Failure(f"{side}: {reason}")


# --- runs ----------------------------------------------------------------------------------------------------------------------


class Session:
    """A server on one adapter, and clients on the same or on another."""

    def __init__(self, launcher, adapter, clients_adapter=None):
        self.launcher, self.adapter = launcher, adapter
        self.clients_adapter = clients_adapter or adapter
        self.server = None

    def serve(self, line, origin):
        """Starts the server and waits until it listens."""
        before = self.adapter.listeners()
        self.server_line, self.server_origin = line, origin
        self.server = self.launcher.start(self.adapter.on(line), "server")
        self.launcher.wait_until(lambda: self.adapter.listeners() > before, self.server)  # if not, the client says what is wrong

    def ask(self, line, origin, count=1, together=True):
        """Runs COUNT clients, at the same time or one after the other."""
        limit = self.launcher.limit
        clients, statuses = [], []
        for number in range(count):
            clients.append(self.launcher.start(self.clients_adapter.on(line), f"client{number or ''}"))
            if not together:
                statuses.append(clients[-1].wait(limit))
        for client, status in zip(clients, statuses or [client.wait(limit) for client in clients]):
            judge(client, line, origin, status, limit)

    def ask_until_served(self, line, origin):
        """Runs clients until the server has ended: datagrams to a group are lost before somebody has joined."""
        self.ask(line, origin)
        end = time.monotonic() + self.launcher.limit
        while not self.server.is_gone() and time.monotonic() < end:
            time.sleep(0.2)
            if not self.server.is_gone():
                self.ask(line, origin)

    def conclude(self):
        """Waits for the server's end and judges it."""
        status = self.server.wait(self.launcher.limit)
        judge(self.server, self.server_line, self.server_origin, status, self.launcher.limit)

    def stop(self):
        """Ends a server that goes on by itself: it must still be there, and the signal must be its end."""
        if self.server.is_gone():
            raise Failure(f"the server ended by itself, {describe(self.server.popen.returncode)}")
        self.server.signal(signal.SIGTERM)
        status = self.server.wait(self.launcher.limit)
        if status not in STOPPED:
            raise Failure(f"server: {describe(status)} when it was stopped")
        if has_complaint(self.server.text()):
            raise Failure("server: a sanitizer complained")

    def run(self, server, client, origins, count=1, stops=False):
        """A whole session: command lines of server and client, and the origins of both programs."""
        self.serve(server, origins[0])
        if program(client) == "mckey":
            self.ask_until_served(client, origins[1])
        else:
            # Debian's rping takes four clients at a time at best.
            self.ask(client, origins[1], count, together=origins[0] == "ours")
        if stops:
            self.stop()
        else:
            self.conclude()
