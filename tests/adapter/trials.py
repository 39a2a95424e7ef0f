# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The trials of the table on one adapter, or between two: each gives a result for the report.

A difference counts when no run of ours is equal to any run of the distribution's, of three each: what varies from run to
run is none. Where the distribution's libraries fail as well, a trial is skipped with what they said.
"""
import difflib
import os
import re
import socket
import subprocess
import time
from collections import namedtuple

import machine
import runs
import table

PASSED, FAILED, DIFFERS, SKIPPED = "passed", "failed", "differs", "skipped"
RUNS = 3
TRIES = 5  # of a client of rdma_cm, which may be too early for its server

Result = namedtuple("Result", "name status reason seconds lines")


END = re.compile(r"end: ([1-9][0-9]*) of \1 topics, [0-9]+ checks")
LIB = os.path.join(table.HERE, "..", "lib")


def edit(text, scripts):
    """Return the lines of a text after these scripts of sed."""
    options = [word for script in scripts for word in ("-f", script)]
    done = subprocess.run(["sed", "-E"] + options, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode(errors="replace").splitlines()


def has_ended(text):
    """Return whether a test program says that all its topics have run."""
    return bool(END.match(runs.last_line(text)))


def without_end(lines):
    """Return what a test program has said, without its last line."""
    return [line for line in lines if not END.match(line)]


def differences(reference, ours):
    """Return the lines that differ, with what is around them."""
    return [line for line in difflib.unified_diff(reference, ours, "distribution", "ours", n=1, lineterm="")][2:]


def free_port():
    """Return a TCP port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def listens(port):
    """Return whether a socket listens at that port."""
    wanted = re.compile(r":%04X 0+:0000 0A" % port)
    return any(wanted.search(machine.read("/proc/net/" + name)) for name in ("tcp", "tcp6"))


class Trials:
    """Runs rows of the table; `where` has device, peer, kind, link, gid, address and n."""

    def __init__(self, programs, where, has_reference):
        self.programs = programs
        self.where = where
        self.has_reference = has_reference
        self.varies = [os.path.join(table.HERE, "varies")]
        self.known = [os.path.join(LIB, "known-differences"), os.path.join(table.HERE, "known-differences")]
        if where["kind"] == "mlx4":
            self.known.append(os.path.join(LIB, "known-differences.mlx4"))

    def reason_to_skip(self, row):
        """Return why this row is not for this adapter or machine, or None."""
        where = self.where
        for word in row.on:
            if word in ("ib", "roce") and word != where["link"]:
                return "is for " + {"ib": "InfiniBand", "roce": "Ethernet"}[word]
            if word == "first" and machine.adapters()[0] != where["device"]:
                return "opens the first of this machine's adapters"
        if ("{address}" in row.what or row.how == "cm" or "address" in row.on) and not where["address"]:
            return "the adapter's network interface has no IPv4 address: sudo ip address add ADDRESS/24 dev INTERFACE"
        if row.how == "cm" and where["peer"] != where["device"]:
            return "from one address of a host to another, Linux stays on one adapter"
        return self.missing(row)

    def missing(self, row):
        """Return which program is not there, and where it would be from, or None."""
        for part in row.what.split(" // ") if row.how in ("same", "pair", "cross", "cm") else [row.program]:
            name = part.split()[0]
            if self.programs.path_of(name) is None:
                source = "apt install perftest" if name.startswith("ib_") else "it is built where libibverbs-dev and librdmacm-dev are installed"
                return "there is no %s: %s" % (name, source)
        return None

    def run(self, row):
        """Run one row, and return its result."""
        name = table.name_of(row)
        reason = self.reason_to_skip(row)
        if reason:
            return Result(name, SKIPPED, reason, 0, [])
        begin = time.monotonic()
        method = {"diff": self.compare, "same": self.compare, "ours": self.run_ours,
                  "pair": self.run_pair, "cross": self.run_cross, "cm": self.run_cm}[row.how]
        try:
            status, reason, lines = method(row, name)
        except OSError as error:  # a program that is not there any more, or none for this machine
            status, reason, lines = FAILED, "cannot be started: %s" % error, []
        return Result(name, status, reason, round(time.monotonic() - begin, 1), lines)

    def command(self, row):
        """Return the words of a row's command or program."""
        words = row.what.format(**self.where).split() if row.what != "-" else []
        if row.how in ("same", "pair", "cross"):
            return [self.programs.path_of(words[0])] + words[1:]
        return [self.programs.path_of(row.program)] + words

    # ---- one program

    def run_ours(self, row, name):
        """A program on our libraries, which has to check something in each topic."""
        done = self.programs.run("ours", self.command(row), name)
        if done.status not in (0, 77):
            return self.failure(done)
        if row.how == "same":
            return PASSED, "", []
        end = [line for line in done.out.splitlines() if END.match(line)]
        if not end:
            return FAILED, "not all topics have run: " + runs.last_line(done.out), done.out.splitlines()[-10:]
        if done.status == 77:
            return SKIPPED, runs.last_line(done.out), []
        if "; without a check:" in end[0] and row.how == "ours":
            return FAILED, "nothing is checked: " + end[0], end
        return PASSED, "", []

    def failure(self, done):
        """A result of a program that failed: the lines that it calls wrong, or its last ones."""
        lines = [line for line in done.out.splitlines() if line.endswith("WRONG")]
        lines = lines or (done.out + done.err).splitlines()[-10:]
        return FAILED, "%s: %s" % (runs.how_ended(done.status), lines[0] if lines else "nothing was printed"), lines

    def compare(self, row, name):
        """The same program on both sides."""
        if not self.has_reference:
            return self.run_ours(row, name)
        outputs = {side: [] for side in runs.SIDES}
        for count in range(RUNS):
            done = {side: self.programs.run(side, self.command(row), "%s.%s.%d" % (name, side, count + 1)) for side in runs.SIDES}
            verdict = self.judge_statuses(row, done)
            if verdict:
                return verdict
            for side in runs.SIDES:
                outputs[side].append(self.lines_of(side, done))
            if not any(without_end(outputs[side][-1]) for side in runs.SIDES):
                return SKIPPED, "the adapter has nothing of this: on both libraries, nothing is printed", []
            if outputs["ours"][-1] in outputs["distribution"] or outputs["distribution"][-1] in outputs["ours"]:
                again = ", in run %d; before, they varied" % (count + 1) if count else ""
                return PASSED, "%d lines equal%s" % (len(outputs["ours"][-1]), again), []
        return self.difference(outputs)

    def lines_of(self, side, done):
        """Return the lines of a side that have to be those of the other."""
        return edit(done[side].out, self.varies + (self.known if side == "distribution" else []))

    def judge_statuses(self, row, done):
        """Return a result if a side has failed, or None."""
        reference, ours = done["distribution"], done["ours"]
        if reference.status == 0 and ours.status == 0:
            if row.how == "same" or has_ended(ours.out):
                return None
            return FAILED, "not all topics have run: " + runs.last_line(ours.out), ours.out.splitlines()[-10:]
        if reference.status == 77 and ours.status == 77:
            return SKIPPED, runs.last_line(ours.out), []
        if reference.status == ours.status and self.lines_of("distribution", done) == self.lines_of("ours", done):
            return SKIPPED, "the distribution's libraries fail alike on this adapter: " + runs.last_line(ours.out), []
        if ours.status:
            return self.failure(ours)
        return DIFFERS, "ours succeed, and the distribution's: " + self.failure(reference)[1], self.failure(reference)[2]

    def difference(self, outputs):
        """A result of outputs that are never equal."""
        lines = differences(outputs["distribution"][-1], outputs["ours"][-1])
        count = sum(1 for line in lines if line[0] in "+-")
        varies = "" if outputs["distribution"][0] == outputs["distribution"][-1] else "; the distribution's own runs differ, too"
        return DIFFERS, "%d lines (- the distribution's, + ours)%s" % (count, varies), lines

    # ---- two programs that meet at a TCP port

    def run_cross(self, row, name):
        """A pair on ours, then one end on the distribution's."""
        combinations = [("ours", "ours")]
        if self.has_reference:
            combinations += [("distribution", "ours"), ("ours", "distribution")]
        for server, client in combinations:
            verdict = self.run_pair(row, name, server, client)
            if verdict[0] != PASSED:
                return verdict[0], "%s serves %s: %s" % (server, client, verdict[1]), verdict[2]
        return verdict

    def run_pair(self, row, name, server="ours", client="ours"):
        """Server and client; where both fail on the distribution's libraries as well, the adapter cannot."""
        done, lines = self.meet(row, name, server, client)
        if all(one.status == 0 for one in done):
            return PASSED, "", []
        if self.has_reference and (server, client) == ("ours", "ours"):
            again, _ = self.meet(row, name, "distribution", "distribution")
            if any(one.status for one in again):
                return SKIPPED, "the distribution's libraries fail alike on this adapter: " + lines[-1], lines
        failed = done[1] if done[1].status else done[0]
        return FAILED, "%s: %s" % (runs.how_ended(failed.status), lines[-1] if lines else "nothing was printed"), lines

    def meet(self, row, name, server, client):
        """Run a server, and its client when it listens; what both said in the end."""
        port = free_port()
        words = self.command(row) + ["-p", str(port)]
        begin = time.monotonic()
        logs = "%s.%s-%s" % (name, server, client)
        files = self.programs.open_logs(logs + ".server")
        process = self.programs.start(server, words, files)
        while process.poll() is None and not listens(port) and time.monotonic() - begin < self.programs.limit:
            time.sleep(0.02)
        words = [self.where["peer"] if word == self.where["device"] else word for word in words]
        asked = self.programs.run(client, words + ["127.0.0.1"], logs + ".client")
        served = runs.finish(process, files, self.programs.limit if asked.status == 0 else 1, time.monotonic())
        return (served, asked), [line for one in (served, asked) for line in (one.out + one.err).splitlines() if line.strip()][-12:]

    # ---- two programs that meet by rdma_cm

    def run_cm(self, row, name):
        """Server and client by the interface's address; a server of rdma_cm is ready when a client says so."""
        served, asked = self.connect(row, name)
        if served.status == 0 and asked.status == 0:
            return PASSED, "", []
        lines = [line for one in (served, asked) for line in (one.out + one.err).splitlines() if line.strip()][-12:]
        failed = asked if asked.status else served
        return FAILED, "%s: %s" % (runs.how_ended(failed.status), lines[-1] if lines else "nothing was printed"), lines

    def connect(self, row, name):
        """Run the server; run the client until it succeeds, or has been too early too often."""
        for tries in range(TRIES):
            words = row.what.format(port=free_port(), **self.where).split()
            split = words.index("//")
            server, client = words[:split], words[split + 1:]
            files = self.programs.open_logs(name + ".server")
            process = self.programs.start("ours", [self.programs.path_of(server[0])] + server[1:], files)
            time.sleep(1 + tries)  # nothing shows that it listens
            asked = self.programs.run("ours", [self.programs.path_of(client[0])] + client[1:], name + ".client")
            served = runs.finish(process, files, self.programs.limit if asked.status == 0 else 1, time.monotonic())
            if asked.status == 0:
                break
        return served, asked
