# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""sources.py - which files the checks of scripts/ look at, and what they do with what they find."""
import os
import subprocess


def files_of(root):
    """The files that git tracks, or in a tree without git all but those of builds."""
    if os.path.isdir(os.path.join(root, ".git")) or os.path.isfile(os.path.join(root, ".git")):
        names = subprocess.check_output(["git", "-C", root, "ls-files"], text=True).splitlines()
        return [name for name in names if os.path.isfile(os.path.join(root, name))]
    found = []
    for directory, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(("build", "."))]
        found += [os.path.relpath(os.path.join(directory, name), root) for name in names]
    return sorted(found)


def c_files_of(root):
    return [name for name in files_of(root) if name.endswith((".c", ".h"))]


def text_of(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def root_of(arguments):
    """The directory that the first argument names, or the tree that the scripts are part of."""
    if len(arguments) > 1:
        return arguments[1]
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def report(faults, what_is_well):
    """Prints the faults, as tests/lib/runner/results.py finds them; the exit code."""
    for fault in faults:
        print(f"fault: {fault}")
    print(f"{len(faults)} faults" if faults else what_is_well)
    return 1 if faults else 0
