# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which RDMA libraries programs load: all three, the provider too, and each from where it should come."""
import os
import re

from harness.checks import Failure
from harness.programs import words

PROBES = ("ibv_devinfo", "rping -h")


def loaded(launcher, adapter, programs, device, libs):
    """The real paths of the libraries that Debian's programs load on the libraries of LIBS, as the loader tells."""
    pattern = re.compile(rf"calling init: (/.*/lib(?:ibverbs|rdmacm|{device})[.-].*)")
    found = set()
    for number, probe in enumerate(PROBES):
        name, *options = words(probe)
        line = programs.line("debian", libs, name, options)
        environment = dict(os.environ, LD_DEBUG="libs")
        process, _ = launcher.run(adapter.on(line), f"libraries{number}", env=environment)
        found |= {os.path.realpath(path) for path in pattern.findall(process.text())}
        process.log.unlink()  # long, and of no use to a reader
    return found


def wrong_below(paths, device, settings):
    """What is wrong where our provider is below the distribution's libraries. Its own provider is loaded as well, and serves nothing."""
    if not any(path.startswith(f"{settings.below}/lib{device}.") for path in paths):
        return f"lib{device} is not loaded"
    staged = [path for path in paths if path.startswith(os.path.realpath(settings.stage) + "/")]
    return f"others are loaded: {' '.join(staged)}" if staged else None


def wrong(paths, device, libs, stage):
    """What is wrong with the libraries in PATHS, or None."""
    for library in ("ibverbs", "rdmacm", device):
        if not any(re.search(rf"/lib{library}[.-]", path) for path in paths):
            return f"lib{library} is not loaded"
    stage = os.path.realpath(stage) + "/"
    others = [path for path in paths if path.startswith(stage) != (libs == "ours")]
    return f"others are loaded: {' '.join(others)}" if others else None


def fault(paths, settings, libs):
    """What is wrong with the libraries in PATHS, which a program has loaded as those of LIBS, or None."""
    if libs == "ours" and settings.below:
        return wrong_below(paths, settings.device, settings)
    return wrong(paths, settings.device, libs, settings.stage)


def check(launcher, adapter, programs, settings, libs):
    """Fails unless Debian's programs load the libraries of LIBS, and no others."""
    paths = loaded(launcher, adapter, programs, settings.device, libs)
    print("\n".join(sorted(paths)), flush=True)
    reason = fault(paths, settings, libs)
    if reason:
        raise Failure(reason)
