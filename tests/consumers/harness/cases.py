# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A case of a table: its name, the adapter that it needs, and whatever else its test looks at.

    def pingpongs(settings):
        for link in ("ib", "roce"):
            yield Case(f"{link}.pingpong.poll", adapter=Spec(link), options="-c")

    @cases(pingpongs)
    def test_pingpong(case, programs, pair): ...

The name is the name of the result, without --prefix. Cases that ask for the same adapter share one and run one after the
other, in the order of the table.
"""
from types import SimpleNamespace


class Case(SimpleNamespace):
    def __init__(self, name, adapter=None, **fields):
        super().__init__(name=name, adapter=adapter, **fields)

    def __repr__(self):
        return self.name


def cases(table):
    """Gives a test its cases: TABLE is a list of them, or a function of the settings that yields them."""

    def mark(test):
        test.table = table
        return test

    return mark


def named(*names):
    """Gives a test one case for each of the names."""
    return cases([Case(name) for name in names])


def cases_of(test, settings):
    """All cases of a test function with these settings."""
    table = getattr(test, "table", None)
    if table is None:
        raise ValueError(f"{test.__name__} has no cases: harness.cases.cases() gives it some")
    return list(table(settings) if callable(table) else table)


def rows(text):
    """The rows of a table of text: fields separated by "|", their outer spaces removed; lines with "#" are comments."""
    for line in text.strip().splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield [field.strip() for field in line.split("|")]
