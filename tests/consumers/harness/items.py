# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The items of a run in their order: cases of a module that need the same adapter run one after the other.

Before the first of a module two items look at the libraries that programs load, and behind the last one on an adapter an item
looks at how the adapter ends.
"""
import pytest

from harness import libraries
from harness.cases import Case
from harness.counters import need_losses


class RigItem(pytest.Item):
    """A case that the harness adds to a module: it has no function."""

    def __init__(self, *, spec, rig, **options):
        super().__init__(**options)
        self.spec, self.rig = spec, rig

    def setup(self):
        self.rig.enter_network(self)

    def teardown(self):
        self.rig.work = None


class LibrariesItem(RigItem):
    """Programs load the libraries that they should: name "libraries.ours" or "libraries.debian"."""

    def runtest(self):
        rig = self.rig
        adapter = rig.adapters.get(self.spec)
        launcher = rig.begin_case(Case(self.name))
        try:
            libraries.check(launcher, adapter, rig.programs, rig.settings, self.name.partition(".")[2])
        finally:
            launcher.close()


class AdapterItem(RigItem):
    """The adapter of a group of cases ends well: name "adapter.LINK"."""

    def runtest(self):
        if self.rig.settings.faults and "--fault" not in self.spec.options:
            need_losses(self.rig.adapters.counters(self.spec))
        self.rig.adapters.conclude(self.spec)


def case_of(item):
    """The case of an item; None if its table is empty."""
    case = item.callspec.params["case"]
    return case if isinstance(case, Case) else None


def name_of(item):
    """The name of an item's result."""
    name = item.name if isinstance(item, RigItem) else case_of(item).name
    return item.config.rig.settings.prefix + name


def module_of(item):
    """The module of an item, as ctest calls it."""
    return item.getparent(pytest.Module).path.stem.removeprefix("test_")


def first_of_each(items):
    """The first case of each test function."""
    firsts = {}
    for item in items:
        firsts.setdefault((item.getparent(pytest.Module), item.originalname), item)
    return list(firsts.values())


def by_adapter(items):
    """The items of each module, as lists that share an adapter: (module, adapter or None, items)."""
    groups = {}
    for item in items:
        groups.setdefault((item.getparent(pytest.Module), case_of(item).adapter), []).append(item)
    modules = list(dict.fromkeys(module for module, _ in groups))
    return [(module, spec, groups[owner, spec]) for module in modules for owner, spec in groups if owner is module]


def arranged(items, rig):
    """The items in their order, with those that the harness adds."""
    seen = set()
    for module, spec, group in by_adapter(items):
        if spec and module not in seen and not spec.device and not rig.settings.faults:
            seen.add(module)
            for name in ("libraries.ours", "libraries.debian"):
                yield LibrariesItem.from_parent(module, name=name, spec=spec, rig=rig)
        yield from group
        if spec and not rig.settings.broken:
            where = f"{module_of(group[0])}." if rig.settings.faults else ""  # several modules are one run
            yield AdapterItem.from_parent(module, name=spec.name().replace(".", f".{where}", 1), spec=spec, rig=rig)
