# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs on our libraries or on the distribution's: environment, output, time limit, and proof of what was loaded.

A side is "ours" or "distribution". A program's output and what it says on standard error go to files of the report's logs.
"""
import os
import re
import shutil
import signal
import subprocess
import time
from collections import namedtuple

SIDES = ("distribution", "ours")

Done = namedtuple("Done", "status seconds out err")


def how_ended(status):
    """Return the text for a status that is not 0."""
    if status == 124:
        return "took longer than its time"
    if status < 0:
        return "was ended by " + signal.Signals(-status).name
    return "ended with status %d" % status


def last_line(text):
    """Return the last line that is not empty."""
    lines = [line for line in text.split("\n") if line.strip()]
    return lines[-1].strip() if lines else "nothing was printed"


class Programs:
    """Where programs are, and what they run on."""

    def __init__(self, build, device, logs, limit):
        self.build = build
        self.stage = os.path.join(build, "stage")
        self.libdir = self.find_libdir()
        self.device = device
        self.logs = logs
        self.limit = limit
        self.address = ""  # of the adapter's network interface
        self.built = self.find_built()

    def find_libdir(self):
        """Return the directory of our libibverbs."""
        for where, _, files in os.walk(self.stage):
            if "libibverbs.so.1" in files:
                return where
        raise FileNotFoundError("no libibverbs.so.1 below " + self.stage)

    def find_built(self):
        """Return the paths of the test programs and benchmarks, by name."""
        found = {}
        for part in ("tests", "bench"):
            for where, _, files in os.walk(os.path.join(self.build, part)):
                for name in files:
                    path = os.path.join(where, name)
                    if os.access(path, os.X_OK):
                        found[name] = path
        return found

    def path_of(self, name):
        """Return where a program is: of the tests, of ours, or of the distribution; None if nowhere."""
        ours = os.path.join(self.stage, "bin", name)
        if name in self.built:
            return self.built[name]
        return ours if os.access(ours, os.X_OK) else shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")

    def environment(self, side):
        """Return the environment of a program on that side's libraries."""
        env = {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
        env["RIG_DEVICE"] = self.device
        if self.address:
            env["CM_ADDRESS"] = env["FORKS_ADDRESS"] = self.address
        if side == "ours":
            env["LD_LIBRARY_PATH"] = self.libdir
        return env

    def open_logs(self, log):
        """Return the two files for what a program prints."""
        path = os.path.join(self.logs, log)
        return open(path + ".out", "w+b"), open(path + ".err", "w+b")

    def start(self, side, command, files, **extra):
        """Start a command with its output in these files; a process group of its own can be ended as a whole."""
        env = self.environment(side)
        env.update(extra)
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1], start_new_session=True)

    def run(self, side, command, log, limit=None, **extra):
        """Run a command to its end, or to the end of its time."""
        begin = time.monotonic()
        files = self.open_logs(log)
        process = self.start(side, command, files, **extra)
        return finish(process, files, limit or self.limit, begin)

    def libraries(self, side):
        """Return the RDMA libraries that programs load on that side, the provider too, by the paths that the loader gives."""
        said = ""
        for name, arguments in (("ibv_devinfo", ["-d", self.device]), ("rping", ["-h"])):
            path = self.path_of(name)
            if path:
                said += self.run(side, [path] + arguments, "libraries." + side, LD_DEBUG="libs").err
        paths = re.findall(r"calling init: (/\S*/lib(?:ibverbs|rdmacm|mlx[45])[.-]\S*)", said)
        return sorted({os.path.realpath(path) for path in paths})


def finish(process, files, limit, begin):
    """Wait for a process, end it and what it has started after its time, and read what it printed."""
    try:
        status = process.wait(max(0.1, begin + limit - time.monotonic()))
    except subprocess.TimeoutExpired:
        status = 124
    end(process)
    texts = []
    for file in files:
        file.seek(0)
        texts.append(file.read().decode(errors="replace"))
        file.close()
    return Done(status, time.monotonic() - begin, texts[0], texts[1])


def end(process):
    """End a process and the group that it leads."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def is_right(side, paths, provider, stage):
    """Return whether libibverbs, librdmacm and the provider are loaded, all from where they should be."""
    stage = os.path.realpath(stage) + "/"
    names = [os.path.basename(path) for path in paths]
    complete = all(any(name.startswith("lib" + part) for name in names) for part in ("ibverbs", "rdmacm", provider))
    ours = [path.startswith(stage) for path in paths]
    return complete and (all(ours) if side == "ours" else not any(ours))
