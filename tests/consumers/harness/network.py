# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A network namespace with an interface on which adapters of mlx4 have their RoCE port.

Debian's libmlx4 looks for neighbours by the host's routes, so GIDs have to be addresses there. The process enters the namespace
itself, and its programs follow. Modules that want one say: pytestmark = pytest.mark.own_network
"""
import ctypes
import os
import subprocess
from pathlib import Path

from harness.process import wait_until

CLONE_NEWNET = 0x40000000
# The address and the MAC address belong to the first adapter's GIDs. Nobody has the same IPv6 address, so nobody is asked.
COMMANDS = """ip link set lo up
ip link add d0 address 02:02:c9:5f:00:01 type veth peer name d1
ip addr add 198.18.0.1/24 dev d0
ip link set d0 up
ip link set d1 up"""


def has_all_addresses():
    return not subprocess.check_output(["ip", "-6", "addr", "show", "dev", "d0", "tentative"], text=True).strip()


class Network:
    def __init__(self):
        self.entered = False
        self.refused = None  # why there is none

    def netdev(self):
        """The options of an adapter whose RoCE port has the interface."""
        return ["--netdev", "d0"] if self.entered else []

    def enter(self, limit):
        """Enters a new namespace, once; the reason if that is impossible, else None."""
        if self.entered or self.refused:
            return self.refused
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            self.refused = f"no network of its own can be made here: {os.strerror(ctypes.get_errno())}"
            return self.refused
        try:
            Path("/proc/sys/net/ipv6/conf/default/accept_dad").write_text("0")
        except OSError:
            pass
        for command in COMMANDS.splitlines():
            subprocess.run(command.split(), check=True)
        if not wait_until(has_all_addresses, limit):
            raise RuntimeError("the interface d0 has no addresses")
        self.entered = True
        return None
