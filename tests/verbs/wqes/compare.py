#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""compare.py [--part] [--signed] THEIRS OURS: the work requests in two traces of softhca, byte by byte.

Both are traces of the same calls, with the distribution's libraries and with ours, without randomized addresses. The
requests of each queue are compared in their order. The immediate of a request that has none is reserved: in theirs it may be
anything, in ours it must be zero. What lies behind inline data, and what a UMR's mask leaves out, does not count. With
--part one may have fewer requests than the other: they were posted, and the queue was destroyed before they were executed.
With --signed every send and receive must have a signature that fits its bytes; it is not compared, as these include buffers'
addresses.
Prints what differs (- theirs, + ours) and how many requests were compared; status 1 if any differs.
"""
import collections
import functools
import operator
import re
import struct
import sys

WITH_IMMEDIATE = {"SEND_IMM", "RDMA_WRITE_IMM", "SEND_INVAL", "UMR", "TAG_MATCHING"}
NAMES = {0x28: "TAG_MATCHING"}  # of opcodes that the trace shows as "?"
INLINE = 0x80000000
FENCE = 0xE0
NEAR = 1 << 16
LIST_END = 0x100

# UMR: 16 bytes of control, 48 of the UMR segment, then 64 of the key's context; which bits of the context a bit of the mask
# stands for, as word and bits of it. PRM: UMR control segment, mkey_mask
UMR_MASK, UMR_CONTEXT = 6, 16
MASKED = [
    (1 << 0, 6, 0xFFFFFFFF),
    (1 << 0, 7, 0xFFFFFFFF),
    (1 << 6, 4, 0xFFFFFFFF),
    (1 << 6, 5, 0xFFFFFFFF),
    (1 << 7, 3, 0x00FFFFFF),
    (1 << 13, 1, 0x000000FF),
    (1 << 14, 1, 0xFFFFFF00),
    (1 << 17, 0, 1 << 10),
    (1 << 18, 0, 1 << 11),
    (1 << 19, 0, 1 << 12),
    (1 << 20, 0, 1 << 13),
    (1 << 21, 0, 1 << 14),
]


def is_address(words, at):
    """Two words of a 64-bit address of a process that has no randomized ones: they depend on what was mapped before."""
    return at + 1 < len(words) and re.fullmatch(r"00007ff[0-9a-f]|0000555[56]", words[at])


def name_addresses(words, bases):
    """Where buffers lie depends on what was mapped before. So an address is told by the first one that the queue's requests
    had near it, and by how far it is from that."""
    at = 0
    while at < len(words):
        if is_address(words, at):
            address = int("".join(words[at : at + 2]), 16)
            near = [number for number, base in enumerate(bases) if abs(address - base) < NEAR]
            if not near:
                near = [len(bases)]
                bases.append(address)
            words[at : at + 2] = [f"buffer{near[0]}", f"{address - bases[near[0]]:+d}"]
            at += 1
        at += 1


class Request:
    """A work request: its words, and which bits of them the adapter does not look at."""

    def __init__(self, kind, number, index, opcode, words):
        self.index = index
        self.words = [int(word, 16) for word in words]
        self.is_signed = {"send": self.send_is_signed, "recv": self.recv_is_signed}.get(kind, lambda _: None)(number)
        self.opcode = NAMES.get(self.words[0] & 0xFF, opcode) if opcode else ""
        if opcode:
            del self.words[4 * (self.words[1] & 0x3F) :]
        self.reserved = [0] * len(self.words)  # must be zero in ours
        self.unused = [0] * len(self.words)  # may be anything
        if opcode:
            self.find_reserved()
            self.find_behind_inline()

    def find_reserved(self):
        if self.index == "0":  # theirs keeps a fence beyond the queue's reset, where nothing is left to wait for
            self.unused[2] = FENCE
        if self.opcode not in WITH_IMMEDIATE:
            self.reserved[3] = 0xFFFFFFFF
        if self.opcode == "ATOMIC_FA":  # what it would compare with: before the data segment, which is the last
            self.reserved[-6] = self.reserved[-5] = 0xFFFFFFFF
        if self.opcode == "UMR":
            mask = self.words[UMR_MASK] << 32 | self.words[UMR_MASK + 1]
            for bit, word, bits in MASKED:
                self.unused[UMR_CONTEXT + word] |= 0 if mask & bit else bits

    def find_behind_inline(self):
        for at in range(4, len(self.words), 4):
            length, room = self.words[at] - INLINE, 4 * (len(self.words) - at) - 4
            if self.opcode != "UMR" and 0 < length and room - 16 < length <= room:
                for word in range(at + 1, len(self.words)):
                    used = min(max(length - 4 * (word - at - 1), 0), 4)
                    self.unused[word] = 0xFFFFFFFF >> (8 * used)

    def xor_of(self, end):
        """Of all bytes before word END"""
        return functools.reduce(operator.xor, struct.pack(f">{end}I", *self.words[:end]))

    def send_is_signed(self, _):
        return self.xor_of(4 * (self.words[1] & 0x3F)) == 0xFF

    def recv_is_signed(self, number):
        """The segment of the signature and the list up to its end, for WQE INDEX of queue NUMBER"""
        end = 4
        while end < len(self.words) and self.words[end + 1] != LIST_END:
            end += 4
        place = functools.reduce(operator.xor, struct.pack(">IH", int(number, 16), int(self.index)))
        return self.xor_of(end) ^ place == 0xFF

    def take_signature(self):
        """What stands for it in the text"""
        if self.is_signed is None:
            return ""
        self.words[2 if self.opcode else 1] &= 0x00FFFFFF
        return " signed" if self.is_signed else " (the signature does not fit)"

    def text(self, is_ours, bases):
        words, wrong = [], ""
        for at, word in enumerate(self.words):
            if is_ours and word & self.reserved[at]:
                wrong = " (reserved bits are not zero)"
            words.append(f"{word & ~self.reserved[at] & ~self.unused[at]:08x}")
        name_addresses(words, bases)
        return f"{self.index} {self.opcode or 'receive'} {' '.join(words)}{wrong}"


def read(path):
    """The requests of each queue. One that was fetched again, for a retry, counts once."""
    queues = collections.OrderedDict()
    with open(path, encoding="ascii") as trace:
        for line in trace:
            match = re.match(r"\S+ wqe (\w+) \w+ (0x\w+) index (\d+) ([A-Z_]+ |\? )?([0-9a-f ]+)$", line)
            if not match:
                if " wqe " in line:
                    sys.exit(f"a line of another form: {line}")
                continue
            kind, number, index, opcode, words = match.groups()
            queue = queues.setdefault((number, kind), [])
            request = Request(kind, number, index, (opcode or "").strip(), words.split())
            if not queue or queue[-1].words != request.words or queue[-1].index != index:
                queue.append(request)
    return queues


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    names = [argument for argument in sys.argv[1:] if argument not in options]
    if len(names) != 2 or set(options) - {"--part", "--signed"}:
        sys.exit(__doc__)
    is_part, is_signed = "--part" in options, "--signed" in options
    theirs, ours = map(read, names)
    count = differ = 0
    for queue in sorted(set(theirs) | set(ours)):
        a, b = theirs.get(queue, []), ours.get(queue, [])
        bases = [], []
        for one, other in zip(a, b):
            count += 1
            signatures = (one.take_signature(), other.take_signature()) if is_signed else ("", "")
            texts = one.text(False, bases[0]) + signatures[0], other.text(True, bases[1]) + signatures[1]
            if texts[0] != texts[1] or "fit" in signatures[1]:
                print(f"{queue[1]} {queue[0]}: - {texts[0]}\n{queue[1]} {queue[0]}: + {texts[1]}")
                differ += 1
        if len(a) != len(b) and not is_part:
            print(f"{queue[1]} {queue[0]}: {len(a)} requests of theirs, {len(b)} of ours")
            differ += 1
    print(f"{count} requests compared")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
