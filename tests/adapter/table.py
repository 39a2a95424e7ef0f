# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Read the table `topics`: what runs on an adapter, how, and what does not run, with the reason."""
import os
from collections import namedtuple

HERE = os.path.dirname(os.path.realpath(__file__))
HOWS = ("diff", "ours", "same", "pair", "cross", "cm", "never")
WORDS = ("any", "mlx5", "mlx4", "ib", "roce", "address", "first")

# One trial: program and topic, or a name and a command.
Row = namedtuple("Row", "how on program what reason")


def read_lines(path):
    """Return the lines of a table that are neither empty nor comments."""
    with open(path) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def expand(line):
    """Return the rows of one line: one for each topic of a program, or one for a command."""
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != 5 or fields[0] not in HOWS:
        raise ValueError("not a row of the table: " + line)
    how, on, programs, what, reason = fields
    on = on.split(",")
    if not set(on) <= set(WORDS) or (how == "never" and not reason):
        raise ValueError("not a row of the table: " + line)
    if how in ("same", "pair", "cross", "cm"):
        return [Row(how, on, programs, what, reason)]
    # {address} is the program's first argument: its topics are one trial
    topics = [what] if "{" in what else what.split()
    return [Row(how, on, program, topic, reason) for program in programs.split() for topic in topics]


def read_table(path=os.path.join(HERE, "topics")):
    """Return all rows."""
    return [row for line in read_lines(path) for row in expand(line)]


def name_of(row):
    """Return the name of a trial, as the report has it."""
    if row.how in ("same", "pair", "cross", "cm") or row.what == "-" or "{" in row.what:
        return row.program
    return row.program + "." + row.what
