# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the modules of applications share: their tables, programs that must be there or be built, runs with a trace."""
import shlex
import shutil
import subprocess

import pytest

from harness.adapter import Spec
from harness.cases import Case
from harness.checks import Failure, has_complaint
from harness.process import describe
from harness.settings import CONSUMERS, SOURCE

ADDRESS = "198.18.0.1"  # of the adapter, for what connects by rdma_cm


def spec(link):
    return Spec(link, ("--verbose",))


def table_of(short, long=(), is_possible=lambda device, row: True):
    """A table of rows: (name, anything, link or nothing). Those of LONG run with --all, and then all on both libraries; IS_POSSIBLE tells
    which adapters a row is for.
    """
    short, long = list(short), list(long)

    def table(settings):
        for link in ("roce",) if settings.quick else ("ib", "roce"):
            for libs in ("ours", "debian") if settings.all else ("ours",):
                for row in short + (long if settings.all else []):
                    only = row[2] if len(row) > 2 else ""
                    if only in ("", link) and is_possible(settings.device, row):
                        yield Case(f"{link}.{row[0]}.{libs}", adapter=spec(link), link=link, libs=libs, row=row)

    return table


def need_programs(*names):
    """Skips the case unless they are installed; not every distribution has all."""
    for name in names:
        if not shutil.which(name):
            pytest.skip(f"there is no {name} here")


def judged(process, status, limit):
    """The text of a program that has succeeded."""
    if status:
        raise Failure(f"{process.log.stem}: {describe(status, limit)}")
    if has_complaint(process.text()):
        raise Failure(f"{process.log.stem}: a sanitizer complained")
    return process.text()


def build(settings, name, compiler, source, *libraries):
    """The path of a program of ours, built once as its users would build it."""
    program = settings.work / name
    if not program.exists():
        line = [*compiler.split(), "-o", str(program), str(CONSUMERS / source), *libraries]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            raise Failure(f"{source} does not build")
    return program


def traced(case, settings, launcher, port, server, client):
    """Runs a pair on an adapter of its own with a trace, which an adapter that several share has not; the text of both."""
    work = launcher.work
    host = [settings.softhca, "run", "--link", case.link, *settings.faults, "--trace", work / "trace", "--"]
    pair = [SOURCE / "scripts" / "pair", "-t", launcher.limit, "-o", work, port, shlex.join(server), shlex.join(client)]
    _, status = launcher.run([*host, *pair], "pair", limit=launcher.limit + 10)
    if status:
        raise Failure(describe(status, launcher.limit))
    logs = [work / "server.log", work / "client.log"]
    if not all(log.exists() for log in logs):
        raise Failure("the pair did not run")
    return [log.read_text(errors="replace") for log in logs]
