# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The options of a run, and where the build has its programs and libraries."""
import os
import re
import shutil
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
CONSUMERS = SOURCE / "tests" / "consumers"
LOSS = ("--fault", "loss:1%", "--seed", "27")
BREAKS = ("crash", "silent", "hang")
BROKEN_LIMIT = 1  # seconds that a program which hangs on purpose is given


def add_options(parser):
    group = parser.getgroup("consumers")
    group.addoption("--build", metavar="DIR", help="a build with its stage, such as build-gcc")
    group.addoption("--quick", action="store_true", help="a part of the cases")
    group.addoption("--all", action="store_true", help="the long form of modules that have one")
    group.addoption("--device", choices=("mlx5", "mlx4"), default="mlx5", help="the kind of adapter")
    group.addoption("--prefix", default="", help="begins each name of a result")
    group.addoption("--only", default="", metavar="PATTERN", help="cases whose name contains PATTERN")
    group.addoption("--names", dest="list_names", action="store_true", help="print the names of the cases and end")
    group.addoption("--below", action="store_true", help="our libraries are our provider, below the distribution's libibverbs and librdmacm")
    group.addoption("--lossy", action="store_true", help="each consumer once, where packets are lost (harness/lossy.py)")
    broken = "replace each program by one that fails so, in one case of each test; with --all in every case"
    group.addoption("--break", dest="broken", choices=BREAKS, help=broken)


def below(build, device):
    """Where the provider for the distribution's libibverbs is, for the private number of that."""
    host = next(Path("/usr/lib").glob("*-linux-gnu/libibverbs.so.1"), None)
    number = re.search(rb"IBVERBS_PRIVATE_(\d+)", host.read_bytes()) if host else None
    directory = build / "bridge" / number[1].decode() if number else None
    if not directory or not (directory / f"lib{device}.so.1").exists():
        raise ValueError(f"{build} has no provider for the libibverbs of this machine")
    return directory


def is_sanitized(build):
    """Whether the build has the address sanitizer."""
    cache = build / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    return bool(re.search(r"^RDMAKIT_SANITIZE:[A-Z]*=.*address", text, re.MULTILINE))


class Settings:
    def __init__(self, config):
        build = config.getoption("build") or os.environ.get("RDMAKIT_BUILD")
        if not build or not Path(build).is_dir():
            raise ValueError(f"--build {build}: no such build; ./run-tests --only '^build-gcc' makes build-gcc")
        self.build = Path(build).resolve()
        self.stage = self.build / "stage"
        self.libdir = next((file.parent for file in sorted(self.stage.rglob("libibverbs.so.1"))), None)
        if not self.libdir:
            raise ValueError(f"{self.build} has no staged libraries")
        self.softhca = self.stage / "bin" / "softhca"
        self.quick, self.all = config.getoption("quick"), config.getoption("all")
        os.environ.setdefault("VERBS_LOG", "error")  # else lines say how to see more, and outputs are compared
        self.faults = LOSS if config.getoption("lossy") else ()
        if self.faults:  # UCX waits for an acknowledge for a second, and hpcc for thousands
            os.environ.setdefault("UCX_RC_TIMEOUT", "20ms")
        self.device, self.broken = config.getoption("device"), config.getoption("broken")
        self.below = below(self.build, self.device) if config.getoption("below") else None
        self.only = config.getoption("only")
        self.prefix = config.getoption("prefix") + ("below." if self.below else "") + ("lossy." if self.faults else "") + ("" if self.device == "mlx5" else self.device + ".")
        self.sanitized = is_sanitized(self.build)
        self.start_limit = int(os.environ.get("CASE_LIMIT", 60))  # seconds for an adapter to come or to end
        self.limit = BROKEN_LIMIT if self.broken == "hang" else self.start_limit  # seconds for one case
        self.work = None

    def make_work(self):
        """Makes the directory that holds all a run writes; other users may look into it."""
        self.work = Path(tempfile.mkdtemp(prefix="rdmakit-consumers.", dir="/tmp"))
        self.work.chmod(0o755)

    def remove_work(self):
        if self.work:
            shutil.rmtree(self.work, ignore_errors=True)

    def limit_of(self, case):
        """Seconds for each program of a case."""
        if self.broken == "hang":
            return self.limit
        return getattr(case, "limit", None) or self.limit
