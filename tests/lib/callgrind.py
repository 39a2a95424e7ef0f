# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads callgrind's dumps: the instructions of these libraries alone, and none of the C library's, whose routines depend on the CPU."""
import glob
import re

OURS = re.compile(r"/lib(ibverbs|mlx[45]|rdmacm)[^/]*\.so[^/]*$")
NAME = re.compile(r"c?ob=\((\d+)\)(?: (.*))?")


def instructions_of(dump):
    """The instructions in a dump that are of these libraries, without those of what they call."""
    names, total, is_ours, skips = {}, 0, False, False
    for line in open(dump):
        name = NAME.match(line)
        if name:
            number, path = name.groups()
            if path:
                names[number] = path
            if line.startswith("ob="):
                is_ours = bool(OURS.search(names.get(number, "")))
        elif line.startswith("calls="):
            skips = True
        elif line[0] in "0123456789+-*":
            total += int(line.split()[1]) if is_ours and not skips else 0
            skips = False
    return total


def rows_of(output, dump):
    """Instructions of each row by its name, of lines "name<tab>operations" that a program of bench/ prints; DUMP.1 is the first's dump."""
    rows, number = {}, 0
    for line in output.splitlines():
        name, count = line.split("\t")
        if count != "absent":
            number += 1
            rows[name] = instructions_of(f"{dump}.{number}") / int(count)
    return rows


def library_directory(stage):
    """Where the libibverbs of an installed tree is, or None."""
    library = next(iter(glob.glob(f"{stage}/lib*/libibverbs.so.1") + glob.glob(f"{stage}/lib*/*/libibverbs.so.1")), None)
    return library and library.rpartition("/")[0]
