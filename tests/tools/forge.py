# SPDX-License-Identifier: MIT
"""Frames as a collector sends them (src/wire/wire.h), and as none would: what tests make streams and
tapes of. A program that proton started sends them with Instance(open_stream())."""
import os
import struct

HELLO, TEXT, FRAMES, NODES, LANES, DEVICE, TICK, SEGMENT, BULK = 1, 2, 3, 4, 5, 13, 17, 19, 20
METRICS, SET, SLOTS, VALUES = 6, 7, 9, 10
U64, F64, TEXTS = 0, 1, 2
INTERVALS, NONE, KERNEL = 1, 0xffffffff, 2
INTERVAL = struct.Struct("<QQII")


def session():
    return os.environ["PROTON_SESSION"]


def open_stream():
    return open(session() + "/stream", "wb", buffering=0)


def open_tape(path):
    tape = open(path, "wb", buffering=0)
    tape.write(b"PROTONTP" + struct.pack("<IIQQ", 1, 32, 0, 10**18))
    return tape


class Instance:
    """One collector; number tells it from others."""

    def __init__(self, out, number=0x1234, pid=None):
        self.out, self.number, self.seq, self.n_texts = out, number, 0, 0
        self.frame(HELLO, struct.pack("<IIIiIIIIQ", 1, pid or os.getpid(), 1, -1, 0, 0, 0, 0, 10**18))

    def frame(self, kind, payload, n=1):
        data = struct.pack("<HHHHQQQ", 0x5057, kind, 32 + len(payload), n, self.number, self.seq, 1) + payload
        self.seq += 1
        self.out.write(data + b"\0" * (-len(data) % 8))

    def text(self, text, number=None):
        if number is None:
            self.n_texts = number = self.n_texts + 1
        text = text.encode() if isinstance(text, str) else text
        for at in range(0, len(text), 4000):
            part = text[at:at + 4000]
            self.frame(TEXT, struct.pack("<IIII", number, len(text), at, len(part)) + part)
        return number

    def kernel(self, number, name):
        """Frame and node of a kernel below the root, both with this number."""
        self.frame(FRAMES, struct.pack("<IB3xIIQ", number, KERNEL, self.text(name), NONE, 0))
        self.frame(NODES, struct.pack("<III", number, 0, number))

    def lane(self, number):
        self.frame(LANES, struct.pack("<IIIIQ", number, NONE, 0, number, 0))

    def metric(self, number, name, kind):
        """It is inclusive and a sum."""
        self.frame(METRICS, struct.pack("<IIIBBBBI", number, self.text(name), 0, kind, 0, 0, 0, NONE))

    def slot(self, number, metrics, node=1, lane=0):
        """A set of these metrics, and its values at a node: both with this number."""
        self.frame(SET, struct.pack("<II%dI" % len(metrics), number, len(metrics), *metrics))
        self.frame(SLOTS, struct.pack("<IIIII", number, node, lane, 0, number))

    def values(self, number, *values):
        data = b"".join(struct.pack("<d" if isinstance(v, float) else "<Q", v) for v in values)
        self.frame(VALUES, struct.pack("<IIQ", number, len(values), (1 << len(values)) - 1) + data)

    def segment_name(self, number=0):
        return "%016x-%u.segment" % (self.number, number)

    def segment(self, name, size, number=0, kind=INTERVALS):
        self.frame(SEGMENT, struct.pack("<IIIIQ", number, kind, name, 0, size))

    def bulk(self, offset, data, number=0):
        self.frame(BULK, struct.pack("<IIQ", number, len(data), offset) + data)


def intervals(n, node=1, lane=1):
    return b"".join(INTERVAL.pack(1000 + 10 * i, 1005 + 10 * i, node, lane) for i in range(n))
