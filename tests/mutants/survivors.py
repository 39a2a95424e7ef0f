# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""survivors.py - survivors.drawn: drawn mutants that no test can see, since the program does the same with them, or no unit test.

    in libibverbs/fork.c page_size         the file and the function
    -size = 4096;                          its lines before and after the change, without what they begin and end with
    +size = (4096 + 1);
    equivalent WHY                         nobody can tell the two apart, for this reason
    seen TEST                              instead: only this test of the system sees it

Lines are compared as text, so a mutant is known again when others have moved it.
"""
import os
import re

from lists import Fault

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "survivors.drawn")


class Survivor:
    def __init__(self, where, file, function):
        self.where, self.file, self.function = where, file, function
        self.old, self.new, self.why, self.is_seen = [], [], None, False

    def is_of(self, place):
        return (self.file, self.function) == (place.file, place.function) and [self.old, self.new] == place.lines()


def take(survivor, line):
    if line[0] in "-+":
        (survivor.old if line[0] == "-" else survivor.new).append(line[1:].strip())
    elif line.startswith("equivalent ") and not survivor.why:
        survivor.why = line.split(" ", 1)[1]
    elif re.fullmatch(r"seen \S+", line) and not survivor.why:
        survivor.why, survivor.is_seen = f"seen by {line.split()[1]}", True
    else:
        raise Fault(f"{survivor.where}: not understood: {line}")


def read_survivors(path=PATH):
    survivors = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            where = f"{os.path.basename(path)}:{number}"
            if not line or line.startswith("#"):
                continue
            if line.startswith("in "):
                if len(line.split()) != 3:
                    raise Fault(f"{where}: needs a file and a function: {line}")
                survivors.append(Survivor(where, *line.split()[1:]))
            elif survivors:
                take(survivors[-1], line)
            else:
                raise Fault(f"{where}: no survivor begins here: {line}")
    return survivors


def reason_of(survivors, place, with_seen=False):
    """Why no test sees PLACE; with_seen: why no unit test does."""
    return next((survivor.why for survivor in survivors if survivor.is_of(place) and (with_seen or not survivor.is_seen)), None)


def faults_of_survivors(root):
    """What is wrong with the list: sentences."""
    path = os.path.join(root, "tests/mutants/survivors.drawn")
    if not os.path.exists(path):
        return []
    try:
        survivors = read_survivors(path)
    except Fault as fault:
        return [str(fault)]
    faults = []
    for survivor in survivors:
        if not (survivor.old and survivor.why):
            faults.append(f"{survivor.where}: needs old lines and a reason")
        elif not occurs(survivor, root):
            faults.append(f"{survivor.where}: the old lines do not occur in {survivor.file}")
    return faults


def occurs(survivor, root):
    path = os.path.join(root, survivor.file)
    if not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    count = len(survivor.old)
    return any(lines[i:i + count] == survivor.old for i in range(len(lines) - count + 1))
