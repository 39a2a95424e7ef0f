# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The roots of a run: fetched once, entered for each program, with the programs that are built in them."""
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from harness.checks import Failure
from harness.programs import words
from harness.settings import CONSUMERS

HERE = Path(__file__).resolve().parent
FETCH_LIMIT = 3600
BUILD_LIMIT = 300
LIBRARIES = "usr/lib/x86_64-linux-gnu"

# Everything that the cases need, by release; what only one release has is behind both.
BOTH = """ibverbs-providers ibverbs-utils rdmacm-utils perftest infiniband-diags srptools ucx-utils libfabric-bin openmpi-bin libopenmpi-dev
    mpich libmpich-dev redis-server redis-tools valkey-server valkey-tools bubblewrap runc firejail strace gdb ltrace gcc libc6-dev
    python3-minimal""".split()
PACKAGES = {
    "trixie": BOTH + "librpma-dev libibverbs-dev dpdk-dev librte-net-mlx5-25 librte-mempool-ring25".split(),
    "sid": BOTH
    + "libucc-dev libgasnet-dev libhwloc-dev libibverbs-dev dpdk-dev librte-net-mlx5-26 librte-mempool-ring26".split(),
}

# A program that is built: its source, the compiler's words behind it, the release's packages. By that compiler, in the root.
INCLUDE = "/usr/include/x86_64-linux-gnu"
GASNET = f"mpicc.openmpi -std=gnu17 -D_GNU_SOURCE=1 -DGASNET_SEQ -D_REENTRANT -I{INCLUDE} -I{INCLUDE}"
PROGRAMS = {
    "ompi_ring": ("mpicc.openmpi", CONSUMERS / "mpi_ring.c", ""),
    "mpich_ring": ("mpicc.mpich -w", CONSUMERS / "mpi_ring.c", ""),
    "shmem_ring": ("oshcc", HERE / "shmem_ring.c", ""),
    "ucc_sum": ("mpicc.openmpi", HERE / "ucc_sum.c", "-lucc"),
    "rpma_copy": ("gcc", HERE / "rpma_copy.c", "-lrpma -libverbs"),
    "gasnet_ibv": (f"{GASNET}/ibv-conduit", HERE / "gasnet_ring.c", "-lgasnet-ibv-seq -libverbs -lhwloc -lpthread -lm"),
    "gasnet_ucx": (f"{GASNET}/ucx-conduit", HERE / "gasnet_ring.c", "-lgasnet-ucx-seq -lucp -luct -lucs -lucm -lhwloc -lpthread -lm"),
    "frame_mirror": ("gcc", CONSUMERS / "frame_mirror.c", "-libverbs"),
    "memlock.so": ("gcc -shared -fPIC", HERE / "memlock.c", ""),
}


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "rdmakit" / "newer"


class Root:
    """The root of one release."""

    def __init__(self, settings, release):
        self.settings, self.release = settings, release
        self.path = cache() / release
        self.programs = settings.work / "built" / release
        self.programs.mkdir(parents=True, exist_ok=True)

    def line(self, libs, *parts):
        """The command line that runs the words of PARTS in the root, on the libraries of LIBS, "ours" or "debian"."""
        stage = str(self.settings.stage) if libs == "ours" else "-"
        return [str(HERE / "enter"), str(self.path), stage, str(CONSUMERS), str(self.settings.work), "--", *words(*parts)]

    def ask(self, *parts, limit=BUILD_LIMIT):
        """What a command says that needs no adapter; its status and output."""
        line = self.line("debian", *parts)
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit, check=False)
        return done.returncode, done.stdout

    def need(self, package):
        """Skips when the release has no such package, which its lists show; fails when it only is not installed."""
        if self.ask("dpkg-query -W -f ${Status}", [package])[1].endswith("ok installed"):
            return
        _, policy = self.ask("apt-cache policy", [package])
        if "Candidate:" not in policy or "Candidate: (none)" in policy:
            pytest.skip(f"Debian {self.release} has no package {package}")
        raise Failure(f"package {package} is not in the root, though the release has it: remove {self.path}")

    def need_ucx(self):
        """Skips when the release's UCX was built without verbs."""
        if not (self.path / LIBRARIES / "ucx/libuct_ib.so.0").exists():
            _, version = self.ask("dpkg-query -W -f ${Version} libucx0")
            pytest.skip(f"Debian {self.release} has built libucx0 {version} without verbs: it has no libuct_ib")

    def program(self, name):
        """The path of a program of PROGRAMS, which is built unless it is there."""
        target = self.programs / name
        if not target.exists():
            compiler, source, libraries = PROGRAMS[name]
            status, output = self.ask(compiler, f"-O2 -o {shlex.quote(str(target))} {shlex.quote(str(source))}", libraries)
            if status:
                print(output, flush=True)
                raise Failure(f"{source.name} does not build in the root of {self.release}")
        return str(target)


class Roots:
    """The roots of a run; a release is fetched when its first case comes."""

    def __init__(self, settings):
        self.settings = settings
        self.outcomes = {}

    def get(self, release):
        if release not in self.outcomes:
            self.outcomes[release] = self.fetch(release)
        status, said = self.outcomes[release]
        reason = said.strip().splitlines()[-1] if said.strip() else f"status {status}"
        if status == 77:
            pytest.skip(reason)
        if status:
            raise Failure(f"the root of {release} cannot be fetched: {reason}")
        return Root(self.settings, release)

    def fetch(self, release):
        print(f"fetching the root of {release}, unless {cache() / release} is there", flush=True)
        line = ["nice", str(HERE / "fetch"), str(cache()), release, *PACKAGES[release]]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=FETCH_LIMIT, check=False)
        return done.returncode, done.stdout
