# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""breaks.py - tests/breaks: by what each script of tests/ and scripts/ was seen to fail. The file's head says how a row is written."""
import os
import re
from dataclasses import dataclass, field

from sources import files_of, text_of

PATH = "tests/breaks"
KINDS = ("by", "tools", "suite", "within", "serves")
SUITES = "tests/suites/CMakeLists.txt"


@dataclass
class Row:
    """SCRIPT is a file, or a pattern of files with *."""

    line: int
    script: str
    kind: str
    words: list = field(default_factory=list)

    @property
    def test(self):
        return self.words[0]

    @property
    def tools(self):
        return self.words[1].split(",")


def breaks_in(root):
    for number, line in enumerate(text_of(root, PATH).splitlines(), 1):
        words = line.split()
        if words and not line.startswith("#"):
            yield Row(number, words[0], words[1] if len(words) > 1 else "", words[2:])


def scripts_in(root):
    """What can be run below tests/ and scripts/, the modules of pytest included."""
    for name in files_of(root):
        if name.startswith(("tests/", "scripts/")) and (text_of(root, name).startswith("#!") or re.match(r"tests/.*/test_\w+\.py$", name)):
            yield name


def matches(row, script):
    return re.fullmatch(re.escape(row.script).replace(r"\*", "[^/]*"), script)


def fault_of(row, root, scripts):
    """What is wrong with a row, or None; SCRIPTS are those that have no row of their own beside a pattern."""
    if row.kind not in KINDS or not row.words or (row.kind == "tools" and len(row.words) != 2):
        return "is not understood"
    if not any(matches(row, script) for script in scripts):
        return f"is of no script: {row.script}"
    if row.kind in ("by", "within"):
        other = os.path.join(root, row.words[0])
        if not os.path.isfile(other):
            return f"names no file: {row.words[0]}"
        text = text_of(root, row.words[0])
        unnamed = {os.path.basename(script) for script in scripts if matches(row, script) and os.path.basename(script) not in text}
        if unnamed and os.path.basename(row.script) not in text and row.kind == "by":
            return f"{row.words[0]} does not name {' '.join(sorted(unnamed))}"
    if row.kind == "suite" and not re.search(rf"\b(suite|consumer)\({re.escape(row.words[0])} ", text_of(root, SUITES), re.MULTILINE):
        return f"names no suite: {row.words[0]}"
    return None


def faults_of_breaks(root):
    """What is wrong with the file: sentences."""
    if not os.path.exists(os.path.join(root, PATH)):
        return []
    scripts, rows = list(scripts_in(root)), list(breaks_in(root))
    exact = {row.script for row in rows}
    found = ((row, fault_of(row, root, [name for name in scripts if name == row.script or name not in exact])) for row in rows)
    faults = [f"{PATH}:{row.line}: {fault}" for row, fault in found if fault]
    for script in scripts:
        count = sum(1 for row in rows if row.script == script) or sum(1 for row in rows if matches(row, script))
        if count != 1:
            faults.append(f"{script}: {PATH} has {count or 'no'} rows that say by what it was seen to fail")
    return faults
