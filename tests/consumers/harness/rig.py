# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the cases of a run share: settings, programs, the network, the adapter, results."""
import shutil

import pytest

from harness.adapter import Adapters
from harness.network import Network
from harness.process import Launcher
from harness.programs import Programs
from harness.results import Results


class Rig:
    """What the cases of a run share."""

    def __init__(self, settings):
        self.settings = settings
        self.programs = Programs(settings)
        self.network = Network()
        self.adapters = Adapters(settings, self.network)
        self.results = Results()
        self.failures, self.skips = {}, {}  # reasons, of cases by their node's id
        self.work = None  # directory of the case at hand

    def begin_case(self, case):
        """The launcher of a case, with an empty directory."""
        self.work = self.settings.work / "case"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        return Launcher(self.settings, self.work, self.settings.limit_of(case))

    def logs(self):
        """The logs to show for a case that failed."""
        logs = sorted(self.work.rglob("*.log")) if self.work and self.work.exists() else []
        return logs + ([self.adapters.current.log] if self.adapters.current else [])

    def enter_network(self, item):
        """Enters a network namespace, if the module of ITEM wants one for this kind of adapter; skips if that is impossible."""
        if self.settings.device == "mlx4" and item.get_closest_marker("own_network"):
            refused = self.network.enter(self.settings.start_limit)
            if refused:
                pytest.skip(refused)

    def close(self):
        self.adapters.discard()
        self.settings.remove_work()
