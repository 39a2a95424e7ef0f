# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What tshark makes of the packets that an adapter has written to a file."""
import subprocess

from harness.checks import Failure


def tshark(path, wanted, *options):
    """The lines that tshark prints of the packets that the filter WANTED lets pass; it fails when tshark does."""
    command = ["tshark", "-r", str(path), *options, *(["-Y", wanted] if wanted else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"tshark: status {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout.splitlines()


def merged(paths, into):
    """One capture of several; its path."""
    subprocess.run(["mergecap", "-w", str(into), *map(str, paths)], check=True)
    return into
