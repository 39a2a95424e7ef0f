# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Free ports, and who listens on one.

Runs at the same time take turns by a file that they lock, the same that scripts/common.sh uses: a port is not in use before
somebody listens. The ports are below those that the kernel gives out by itself.
"""
import fcntl
import os
import random
from pathlib import Path

FIRST, LAST = 10000, 32000


def tables(*names):
    """The kernel's tables of sockets, one after the other."""
    text = ""
    for name in names:
        path = Path("/proc/net") / name
        text += path.read_text() if path.exists() else ""
    return text


def is_used(port):
    return f":{port:04X} " in tables("tcp", "tcp6", "udp", "udp6")


def listens(port):
    """Whether somebody listens on the TCP port: a look at the table, as a server would take a connection for its client's."""
    local = f":{port:04X} "
    for line in tables("tcp", "tcp6").splitlines():
        fields = line.split()
        if len(fields) > 3 and (fields[1] + " ").endswith(local) and fields[3] == "0A":
            return True
    return False


def is_bound(port):
    """Whether somebody has bound the UDP port."""
    return f":{port:04X} " in tables("udp")


def outer_uid(uid, uid_map):
    """The machine's user that UID of a namespace of users is, by the lines of its map. An id that has none stays."""
    for line in uid_map.splitlines():
        inside, outside, count = map(int, line.split())
        if inside <= uid < inside + count:
            return outside + uid - inside
    return uid


def free_port():
    """A port that nobody uses, each time another."""
    uid = outer_uid(os.getuid(), Path("/proc/self/uid_map").read_text())  # root of a namespace of users has not root's files
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"rdmakit-port.{uid}")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        last = file.read().strip()
        port = int(last) if last.isdigit() and len(last) == 5 else random.randrange(FIRST, LAST)
        while True:
            port = port + 1 if port < LAST else FIRST
            if not is_used(port):
                break
        file.seek(0)
        file.write(f"{port}\n")
        file.truncate()
        return port
