#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Servers and clients of TCP that know nothing of rsockets, for librspreload.

    tcp_peers.py serve PORT FILE           a process for each connection, which sends FILE
    tcp_peers.py get PORT                  prints what the server sends
    tcp_peers.py memcached PORT FILE       a value there and back
    tcp_peers.py plain PORT                two connections to a server without RDMA: the system's sockets take their places
    tcp_peers.py late PORT CLOSED COMMAND  connections that do not wait; COMMAND loses the first packet of each, so that the answer "nobody
                                     there" comes seconds later; at the port CLOSED nobody listens at all
"""
import errno
import os
import select
import shutil
import socket
import socketserver
import subprocess
import sys

HOST = "127.0.0.1"


def is_rsocket(sock):
    """Whether the number stands for an rsocket: its own file is a socket of this machine's (AF_UNIX), and not of the network."""
    inode = str(os.fstat(sock.fileno()).st_ino)
    with open("/proc/self/net/unix") as file:
        return any(line.split()[6] == inode for line in file)


def print_all(sock):
    shutil.copyfileobj(sock.makefile("rb"), sys.stdout.buffer)


def serve(port, path):
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            with open(path, "rb") as file:
                self.wfile.write(file.read())

    socketserver.ForkingTCPServer((HOST, int(port)), Handler).serve_forever()


def get(port):
    with socket.create_connection((HOST, int(port))) as sock:
        print_all(sock)


def memcached(port, path):
    with open(path, "rb") as file:
        value = file.read()[:500000]
    with socket.create_connection((HOST, int(port))) as sock:
        sock.sendall(b"set value 0 0 %d\r\n" % len(value) + value + b"\r\nget value\r\nquit\r\n")
        answer = sock.makefile("rb").read()
    assert answer == b"STORED\r\nVALUE value 0 %d\r\n" % len(value) + value + b"\r\nEND\r\n", answer[:100]
    print(len(value), "bytes came back")


def plain(port):
    for timeout in None, 5:
        sock = socket.socket()
        sock.settimeout(timeout)
        assert is_rsocket(sock), "it is no rsocket to begin with"
        sock.connect((HOST, int(port)))
    print_all(sock)


def begin(port, command):
    """A connection that does not wait."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    sock = socket.socket()
    sock.setblocking(False)
    assert sock.connect_ex((HOST, int(port))) == errno.EINPROGRESS, "it is answered at once"
    assert is_rsocket(sock), "it is no rsocket to begin with"
    return sock


def late(port, closed, *command):
    polled, watched, refused = begin(port, command), begin(port, command), begin(closed, command)
    watch = select.epoll()
    watch.register(watched, select.EPOLLOUT)
    poll = select.poll()
    poll.register(refused, select.POLLOUT)
    assert select.select([], [polled], [], 30)[1] == [polled]
    assert watch.poll(30) == [(watched.fileno(), select.EPOLLOUT)]
    assert poll.poll(30000)
    assert refused.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
    for sock in polled, watched:
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0 and not is_rsocket(sock), "it is not the system's"
        sock.setblocking(True)
        print_all(sock)


def main():
    modes = {function.__name__: function for function in (serve, get, memcached, plain, late)}
    modes[sys.argv[1]](*sys.argv[2:])


main()
