# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the libraries cost on an adapter, ours beside the distribution's: instructions, cycles, latency, bandwidth.

Instructions are counted by callgrind in bench/datapath, and repeat. Times are medians of runs of both sides in turn.
"""
import glob
import os
import re
import shutil
import statistics

import runs
import trials

# Name, program and arguments, column of perftest's table, unit
PERFTEST = (
    ("send, 2 bytes", "ib_send_lat -s 2", 4, "us"),
    ("RDMA write, 2 bytes", "ib_write_lat -s 2", 4, "us"),
    ("RDMA read, 2 bytes", "ib_read_lat -s 2", 4, "us"),
    ("atomic", "ib_atomic_lat", 4, "us"),
    ("send, 64 KiB", "ib_send_bw -s 65536", 3, "MiB/s"),
    ("RDMA write, 64 KiB", "ib_write_bw -s 65536", 3, "MiB/s"),
    ("RDMA read, 64 KiB", "ib_read_bw -s 65536", 3, "MiB/s"),
    ("RDMA write, 2 bytes, messages", "ib_write_bw -s 2", 4, "M/s"),
)
ROUNDS = 4  # of bench/datapath under callgrind, the first of which does not count


class Unmeasured(Exception):
    """Why there is no number."""


class Measures:
    """Measures on the adapter of `where`; programs are started as trials start them."""

    def __init__(self, programs, where, sides, quick):
        self.programs = programs
        self.where = where
        self.sides = sides
        self.repeat = 1 if quick else 3
        self.part = "post_send, " if quick else ""
        self.quick = quick

    # ---- bench/datapath

    def datapath(self, side):
        """Return instructions of each operation."""
        path = self.programs.path_of("datapath")
        if not path:
            raise Unmeasured("bench/datapath was not built: it needs valgrind's headers, librdmacm-dev and x86-64")
        if not shutil.which("valgrind"):
            raise Unmeasured("valgrind is not installed")
        out = os.path.join(self.programs.logs, "callgrind." + side)
        command = ["valgrind", "--quiet", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=" + out, path, str(ROUNDS)]
        done = self.programs.run(side, command + ([self.part] if self.part else []), "datapath." + side, limit=20 * self.programs.limit)
        counts = self.read_dumps(done.out, out)
        for file in glob.glob(out + "*"):
            os.remove(file)
        if done.status:
            raise Unmeasured("bench/datapath %s: %s" % (runs.how_ended(done.status), runs.last_line(done.out + done.err)))
        return counts

    @staticmethod
    def read_dumps(text, out):
        """Return instructions each, from lines of a name and a number, and callgrind's dumps in the same order."""
        counts, number = {}, 0
        for line in text.splitlines():
            name, _, times = line.partition("\t")
            if not times.isdigit():
                continue
            number += 1
            try:
                with open("%s.%d" % (out, number)) as dump:
                    total = re.search(r"^(?:totals|summary): (\d+)", dump.read(), re.M)
                counts[name] = int(total.group(1)) / int(times)
            except (OSError, AttributeError):
                raise Unmeasured("callgrind has left no number of " + name)
        return counts

    def cycles(self, side):
        """Return cycles of each operation, the least of 40 rounds."""
        path = self.programs.path_of("datapath")
        if not path:
            raise Unmeasured("bench/datapath was not built")
        done = self.programs.run(side, [path, "40"] + ([self.part] if self.part else []), "cycles." + side, limit=5 * self.programs.limit)
        if done.status:
            raise Unmeasured("bench/datapath %s: %s" % (runs.how_ended(done.status), runs.last_line(done.out + done.err)))
        return {name: float(value) for name, _, value in (line.partition("\t") for line in done.out.splitlines()) if value}

    # ---- two processes

    def traffic(self, side):
        """Return the round trip and the bandwidth of bench/traffic, which needs no perftest."""
        path = self.programs.path_of("traffic")
        if not path:
            raise Unmeasured("bench/traffic was not built")
        found = {}
        for what, name in (("latency", "round trip of a send, 64 bytes, us"), ("bandwidth", "RDMA write, 1 MiB, MiB/s")):
            done = self.programs.run(side, [path, what], "traffic.%s.%s" % (what, side))
            if done.status:
                raise Unmeasured("bench/traffic %s %s: %s" % (what, runs.how_ended(done.status), runs.last_line(done.out + done.err)))
            value = float(done.out.split()[0])
            found[name] = value * 1024 if what == "bandwidth" else value
        return found

    def perftest(self, side):
        """Return what perftest says."""
        trial = trials.Trials(self.programs, self.where, False)
        found = {}
        for name, command, column, unit in PERFTEST:
            row = trials.table.Row("pair", ["any"], name, "%s -d {device} -F -n {n} {x}" % command, "")
            missing = trial.missing(row)
            if missing:
                raise Unmeasured(missing)
            (served, asked), lines = trial.meet(row, "perftest." + command.split()[0], side, side)
            if served.status or asked.status:
                raise Unmeasured("%s fails: %s" % (command, lines[-1] if lines else "nothing was printed"))
            found[name + ", " + unit] = self.column_of(asked.out, column)
        return found

    @staticmethod
    def column_of(text, column):
        """Return a number of the last line of perftest's table."""
        for line in reversed(text.splitlines()):
            words = line.split()
            if len(words) > column and words[0].isdigit():
                return float(words[column])
        raise Unmeasured("perftest has printed no table")

    # ---- both sides

    def both(self, function, repeat):
        """Return rows of (name, ours, distribution's), medians of runs in turn; None where a side has no number."""
        values = {side: {} for side in self.sides}
        for count in range(repeat):
            for side in self.sides if count % 2 else reversed(self.sides):
                for name, value in function(side).items():
                    values[side].setdefault(name, []).append(value)
        names = list(values["ours"])
        names += [name for side in self.sides for name in values[side] if name not in names]
        return [(name,) + tuple(statistics.median(values[side][name]) if name in values.get(side, {}) else None
                                for side in ("ours", "distribution")) for name in names]

    def all(self):
        """Return (title, rows, reason for none) of each table."""
        wanted = [("Instructions", self.datapath, 1), ("Latency and bandwidth", self.traffic, self.repeat),
                  ("Latency and bandwidth, perftest", self.perftest, self.repeat)]
        if not self.quick:
            wanted.insert(1, ("Cycles of the processor", self.cycles, self.repeat))
        for title, function, repeat in wanted:
            try:
                yield title, self.both(function, repeat), ""
            except (Unmeasured, OSError) as error:
                yield title, [], str(error)
