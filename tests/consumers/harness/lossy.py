# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--lossy: each consumer once, on our libraries and on an adapter that loses a packet of a hundred.

A consumer is a program with its transport; a test whose program is not known is one. The first of its cases runs that no line of the
table "lossless" is for. A consumer of which none is left has its reason in that table; a line that is for no case is a mistake.

Some programs end without a word: when the last acknowledge is lost, the other side sends again to nobody, and fails rightly. These lose
a few packets near their beginning, each on an adapter of its own.
"""
import dataclasses
import re

import pytest

from harness.cases import rows
from harness.items import case_of, module_of
from harness.settings import CONSUMERS

FIRST_ONES = [option for number in (11, 31, 77, 120) for option in ("--fault", f"loss:{number}")]
ENDS_ALONE = re.compile(r"pingpong|rdmacm\.|libfabric|gloo|dapl|fio|qemu|iser")


class Line:
    """A line of the table: MODULE | PATTERN of names | REASON."""

    def __init__(self, module, pattern, reason):
        self.text = f"{module} | {pattern}"
        self.module, self.pattern, self.reason = re.compile(module), re.compile(pattern), reason
        self.used = False

    def takes(self, module, name):
        """Whether it is for that case."""
        found = bool(self.module.fullmatch(module) and self.pattern.search(name))
        self.used |= found
        return found


def consumer_of(test, case):
    """The consumer whose case it is, as far as the case's table says so."""
    row = getattr(case, "row", ())
    way = row[1][0] if len(row) > 1 and isinstance(row[1], list) else ""  # UCX' transport, fio's verb
    program = getattr(case, "program", "") or (getattr(case, "line", "").split() or [""])[0]
    options = f"{getattr(case, 'line', '')} {getattr(case, 'options', '')}" if isinstance(getattr(case, "options", ""), str) else ""
    transport = re.search(r"-c (?!RC)[A-Z]{2,3}\b|--use-srq", options)
    return program or test, way, transport[0] if transport else ""


def is_on_ours(case):
    """Whether all of the case is on our libraries."""
    return not re.search(r"(?:^|[.-])debian(?:\.|--|$)|on[_-]debian", case.name)


def lose(case):
    """Gives a case that may not lose its last packets an adapter that loses others."""
    if case.adapter and ENDS_ALONE.search(case.name):
        spec = case.adapter
        case.adapter = dataclasses.replace(spec, options=(*spec.options, *FIRST_ONES), label=case.name)


def select(items, is_whole):
    """The items that run, of those in a run without losses. The table is judged when they are all of their modules (IS_WHOLE)."""
    lines = [Line(*row) for row in rows((CONSUMERS / "lossless").read_text())]
    chosen, seen, known = [], set(), {}
    for item in items:
        case, module = case_of(item), module_of(item)
        consumer = consumer_of(f"{module}.{item.originalname}", case)
        taken = any([line.takes(module, case.name) for line in lines])
        known[consumer] = known.get(consumer) or taken
        if is_on_ours(case) and not taken and consumer not in seen:
            seen.add(consumer)
            lose(case)
            chosen.append(item)
    modules = {module_of(item) for item in items}
    unused = [line.text for line in lines if not line.used and any(map(line.module.fullmatch, modules))]
    left = [" ".join(consumer).strip() for consumer in known if consumer not in seen and not known[consumer]]
    if is_whole and (unused or left):
        raise pytest.UsageError(f"lossless: lines for no case: {'; '.join(unused)}; consumers without a case or a line: {'; '.join(left)}")
    return chosen
