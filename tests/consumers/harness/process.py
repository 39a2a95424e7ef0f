# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Starts programs, each in a session of its own, so that all it has started can be killed with it.

Nothing runs without a limit. What is left when a case ends, or when the run is interrupted, is killed. With --break the program
is replaced: behind "softhca run ... --" by one that crashes, prints nothing or hangs; "softhca serve" stays.
"""
import os
import signal
import subprocess
import time

from harness.checks import Failure

TIMED_OUT = 124
BROKEN = {
    "crash": ["sh", "-c", "kill -SEGV $$"],
    "silent": ["true"],
    "hang": ["sleep", "1000"],
}


def wait_until(condition, limit, process=None):
    """Waits until CONDITION() holds; false if it does not within LIMIT seconds, or when PROCESS is gone."""
    end = time.monotonic() + limit
    while not condition():
        if process and process.is_gone():
            return condition()
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def break_line(line, kind):
    """LINE with its program replaced by one that fails as KIND says."""
    if os.path.basename(line[0]) == "softhca" and line[1] == "serve":
        return line
    if os.path.basename(line[0]) == "softhca" and "--" in line:
        return line[: line.index("--") + 1] + BROKEN[kind]
    return BROKEN[kind]


class Process:
    """A program that has been started; its output, errors among it, goes to the file LOG."""

    def __init__(self, line, log, **options):
        self.log = log
        options.setdefault("stdin", subprocess.DEVNULL)
        with open(log, "wb") as out:
            options.setdefault("stdout", out)
            options.setdefault("stderr", subprocess.STDOUT)
            self.popen = subprocess.Popen(line, start_new_session=True, **options)
        self.pid = self.popen.pid

    def is_gone(self):
        return self.popen.poll() is not None

    def text(self):
        """What it has printed so far."""
        return self.log.read_text(errors="replace")

    def errors(self):
        """What it has said on standard error, if that was kept apart."""
        return self.log.with_suffix(".errors.log").read_text(errors="replace")

    def says(self, text):
        """A condition: it has printed TEXT."""
        return lambda: text in self.text()

    def signal(self, number):
        """Sends a signal to the program itself."""
        if not self.is_gone():
            self.popen.send_signal(number)

    def stop(self, limit=2):
        """Ends it and all that it has started; its status."""
        self.signal(signal.SIGTERM)
        try:
            self.popen.wait(limit)
        except subprocess.TimeoutExpired:
            pass
        self.kill()
        return self.popen.returncode

    def kill(self):
        """Kills it and all that it has started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.popen.wait()

    def wait(self, limit):
        """Its status: negative for a signal, TIMED_OUT when it had to be ended after LIMIT seconds."""
        try:
            return self.popen.wait(limit)
        except subprocess.TimeoutExpired:
            self.stop()
            return TIMED_OUT


def describe(status, limit=None):
    """A status in words."""
    if status == TIMED_OUT:
        return f"timed out after {limit} s" if limit else "timed out"
    if status < 0 or 128 < status <= 128 + 64:
        number = -status if status < 0 else status - 128
        return f"status {status}: {signal.Signals(number).name}" if number in iter(signal.Signals) else f"status {status}"
    return f"status {status}"


def is_refusal(status):
    """Whether a program has ended by itself with an error: by no signal, and in time."""
    return status > 0 and status != TIMED_OUT and not 128 < status <= 128 + 64


def child_of(process, name):
    """The process ID of the one child of that name: the program below a "softhca run", which has helpers of its own there."""
    children = subprocess.run(["pgrep", "-P", str(process.pid), "-x", name], stdout=subprocess.PIPE, text=True).stdout.split()
    if len(children) != 1:
        raise Failure(f"{len(children)} children of process {process.pid} are {name}")
    return int(children[0])


class Launcher:
    """Starts the programs of one case, with its limit, in its directory; kills what is left of them."""

    def __init__(self, settings, work, limit):
        self.settings, self.work, self.limit = settings, work, limit
        self.processes = []

    def start(self, line, name, breaks=True, errors=False, **options):
        """Starts LINE, whose output goes to NAME.log in the case's directory; with errors=True what it says on standard error goes
        to NAME.errors.log. With breaks=False --break leaves it alone.
        """
        line = [str(word) for word in line]
        if breaks and self.settings.broken:
            line = break_line(line, self.settings.broken)
        log = self.work / f"{name}.log"
        if errors:
            with open(log.with_suffix(".errors.log"), "wb") as file:
                process = Process(line, log, stderr=file, **options)
        else:
            process = Process(line, log, **options)
        self.processes.append(process)
        return process

    def run(self, line, name, limit=None, **options):
        """Runs LINE to its end; the process and its status."""
        process = self.start(line, name, **options)
        return process, process.wait(limit or self.limit)

    def wait_until(self, condition, process=None):
        return wait_until(condition, self.limit, process)

    def close(self):
        """Kills whatever has not ended yet, in the order of the starts."""
        for process in self.processes:
            process.kill()
        self.processes = []
