#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""qemu_migrate.py SOURCE DESTINATION URI MEMORY-ADDRESS MEMORY-SIZE OUT: tells the QEMU whose QMP socket is SOURCE to migrate to the one
at DESTINATION, which listens at URI, and has that write what it then has in its memory to OUT. Status 0: it has migrated."""
import json
import socket
import sys
import time


class Machine:
    def __init__(self, path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        self.file = connection.makefile("rw")
        self.file.readline()  # it greets
        self.call("qmp_capabilities")

    def call(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if "error" in answer:
                sys.exit(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]


def migrate(machine, uri):
    machine.call("migrate", uri=uri)
    while True:
        state = machine.call("query-migrate")
        if state["status"] in ("completed", "failed", "cancelled"):
            return state
        time.sleep(0.1)


def main():
    source, destination, uri, address, size, out = sys.argv[1:]
    source, destination = Machine(source), Machine(destination)
    state = migrate(source, uri)
    print(state["status"], state.get("error-desc", ""), state.get("ram", {}).get("transferred"), "bytes")
    if state["status"] == "completed":
        while destination.call("query-status")["status"] == "inmigrate":
            time.sleep(0.1)
        destination.call("pmemsave", val=int(address, 0), size=int(size, 0), filename=out)
    source.call("quit")
    destination.call("quit")
    return 0 if state["status"] == "completed" else 1


sys.exit(main())
