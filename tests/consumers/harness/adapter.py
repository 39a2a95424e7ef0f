# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The adapter that separate programs join: "softhca serve", and the "softhca run" in front of their command lines.

Cases that ask for the same Spec share one adapter. After a case that fails, the next one gets a new adapter. The last of them
sees the adapter end: it must still be there, stop when told to, and have no complaint of a sanitizer.
"""
import dataclasses
import re
import signal
import subprocess

from harness.checks import Failure, has_complaint
from harness.counters import then_counters
from harness.process import Process, describe, wait_until

LISTENS = re.compile(r"is listened at|is joined")


@dataclasses.dataclass(frozen=True)
class Spec:
    """An adapter to start: its link layer, ib or roce, and further options of "softhca serve", where WORK is the run's directory.

    Its result is named after the LABEL, or the link layer. DEVICE is the kind, if not that of the run.
    """

    link: str
    options: tuple = ()
    device: str = ""
    label: str = ""

    def name(self):
        return f"adapter.{self.label or self.link}"


class Adapter:
    def __init__(self, settings, spec, options, where):
        self.settings, self.spec = settings, spec
        self.link = spec.link
        self.socket = where / "adapter"
        self.socket.unlink(missing_ok=True)
        device = spec.device or settings.device
        line = [settings.softhca, "serve", "--socket", self.socket, "--device", device, "--link", spec.link]
        self.process = Process([str(word) for word in line + self.with_faults(options)], where / "adapter.log")
        if not wait_until(self.socket.is_socket, settings.start_limit, self.process):
            self.process.kill()
            raise Failure("softhca serve did not come up", self.process.log)

    def with_faults(self, options):
        """The options, with the faults of the run where they have none."""
        return [*options, *(() if "--fault" in options else self.settings.faults)]

    @property
    def log(self):
        return self.process.log

    def on(self, line):
        """The command line that runs LINE on the adapter."""
        return [str(self.settings.softhca), "run", "--socket", str(self.socket), "--"] + list(line)

    def fault(self, *faults):
        """The command line that puts a fault into the adapter."""
        return [str(self.settings.softhca), "fault", "--socket", str(self.socket), *faults]

    def listeners(self):
        """How often somebody has begun to listen by rdma_cm, or has joined a group. Needs an adapter with --verbose."""
        return len(LISTENS.findall(self.process.text()))

    def stop(self):
        """Its exit status."""
        self.process.signal(signal.SIGTERM)
        status = self.process.wait(self.settings.start_limit)
        self.process.kill()
        return status

    def check_and_stop(self):
        """Fails unless it is still there, ends well, and no sanitizer has complained."""
        was_there = not self.process.is_gone()
        status = self.stop()
        if not was_there:
            raise Failure(f"softhca serve ended by itself, {describe(status)}", self.log)
        if status:
            raise Failure(f"softhca serve ended with {describe(status)}", self.log)
        if has_complaint(self.process.text()):
            raise Failure("a sanitizer complained", self.log)


class Adapters:
    """The one adapter at a time that cases share."""

    def __init__(self, settings, network):
        self.settings, self.network = settings, network
        self.current = None

    def get(self, spec):
        """The adapter of that kind, which is started unless it is there."""
        if self.current and self.current.spec != spec:
            self.discard()
        if not self.current:
            options = [option.replace("WORK", str(self.settings.work)) for option in spec.options]
            if spec.link != "ib":
                options += self.network.netdev()
            self.current = Adapter(self.settings, spec, options, self.settings.work)
        return self.current

    def start(self, spec, where):
        """Another adapter, which the caller stops, with its socket and log in directory WHERE."""
        return Adapter(self.settings, spec, spec.options, where)

    def death(self):
        """What to add to a failure if the adapter is no longer there."""
        gone = self.current and self.current.process.is_gone()
        return f"; softhca serve ended by itself, {describe(self.current.process.popen.returncode)}" if gone else ""

    def discard(self):
        """Ends the adapter without a look at it, so that the next case meets a healthy one."""
        if self.current:
            self.current.stop()
            self.current = None

    def counters(self, spec):
        """The counters of the adapter of that kind, as text."""
        line = then_counters(["true"], self.settings.device)
        return subprocess.run(self.get(spec).on(line), stdout=subprocess.PIPE, text=True).stdout

    def conclude(self, spec):
        """Checks the end of the adapter of that kind."""
        adapter = self.get(spec)
        self.current = None
        adapter.check_and_stop()
