# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Judges of output: results of pingpongs and of perftest, complaints of sanitizers."""
import re


class Failure(Exception):
    """A case has failed: the reason, and files of which the result shows an excerpt."""

    def __init__(self, reason, *files):
        super().__init__(reason)
        self.reason, self.files = reason, files


def has_complaint(text):
    """Whether a sanitizer has complained in there."""
    return "Sanitizer" in text or "runtime error:" in text


def option(line, name, default):
    """The number that follows option NAME in a command line."""
    return int(line[line.index(name) + 1]) if name in line else default


def count(pattern, text):
    return len(re.findall(pattern, text, re.MULTILINE))


# --- each takes the server's and the client's text and command line: a reason why the work was not done, or None ---------------


def pingpong(server, client, line):
    """Both sides tell how long they took for as many iterations as were asked for."""
    iters = option(line, "-n", 1000)
    result = rf"^{iters} iters in \d+\.\d+ seconds = \d+\.\d+ usec/iter$"
    for side, text in (("server", server), ("client", client)):
        if count(result, text) != 1:
            return f"the {side} does not say how long {iters} iterations took"
        if "invalid data" in text:
            return f"the {side} got invalid data"
    return None


def success(server, client, _line):
    """Both sides of ibv_xsrq_pingpong say so."""
    for side, text in (("server", server), ("client", client)):
        if count("^success$", text) != 1:
            return f"the {side} does not say success"
    return None


def perftest(server, client, line):
    """The client's table has, behind its heading, a line of a size, iterations and results that are not zero.

    The results may be anything where perftest has not found out how fast the clock goes, which it says (a busy machine). With
    --reversed it is the server that measures.
    """
    no_clock = "Correlation coefficient" in server + client
    _, heading, table = client.partition("#bytes")
    if not heading:
        return "the client has no table"
    sizes = []
    for row in table.splitlines()[1:]:
        fields = row.split()
        if len(fields) < 4 or not fields[0].isdigit() or not re.fullmatch(r"\d+", fields[1]) or int(fields[1]) == 0:
            continue
        if no_clock or (number(fields[-1]) >= 0 and any(number(field) > 0 for field in fields[3:])):
            sizes.append(int(fields[0]))
    if not sizes:
        return "the client's table has no result"
    if "-s" in line and option(line, "-s", 0) not in sizes:
        return f"the client's table has no line of {option(line, '-s', 0)} bytes"
    if "-a" in line and len(sizes) < 10:
        return f"the client's table has {len(sizes)} sizes"
    return None


def judge_of(program):
    """The judge of a pingpong or a program of perftest."""
    if program == "ibv_xsrq_pingpong":
        return success
    return pingpong if program.endswith("pingpong") else perftest


def number(text):
    try:
        return float(text)
    except ValueError:
        return -1.0
