# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What an adapter has done, by its trace: a program that falls back to TCP or to shared memory leaves none there."""
import collections
import re

SENT = re.compile(r" wqe send qpn \w+ index \d+ (\w+)")


def done(trace):
    """How many work requests of each opcode were executed, and how many completions (CQE) there were."""
    counts = collections.Counter()
    with open(trace, errors="replace", encoding="utf-8") as file:
        for line in file:
            sent = SENT.search(line)
            if sent:
                counts[sent[1]] += 1
            elif " cqe cqn " in line:
                counts["CQE"] += 1
    return counts


def missing(wanted, counts):
    """Why COUNTS are too few, or None. WANTED is as in "SEND 100, RDMA_READ 20": opcodes with the least number of each."""
    for item in wanted.split(","):
        opcode, least = item.split()
        if counts[opcode] < int(least):
            return f"the adapter has done {counts[opcode]} {opcode}, less than {least}: {dict(counts)}"
    return None
