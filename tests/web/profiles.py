# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Writes pprof files as other programs do, so that tests can show the page profiles that profd does not send.

This is a separate encoder, by https://github.com/google/pprof/blob/main/proto/profile.proto.
"""

import gzip


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field, values):
    return block(field, b"".join(map(varint, values)))


class Writer:
    """Makes a file of stacks. A frame is a name, or (name, file, line, binary)."""

    def __init__(self, types=(("samples", "count"), ("cpu", "nanoseconds")), seconds=10):
        self.strings = {"": 0}
        self.locations, self.mappings, self.samples = {}, {}, []
        self.types, self.seconds = types, seconds
        self.tables = b""

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def mapping(self, path):
        if path not in self.mappings:
            made = self.mappings[path] = len(self.mappings) + 1
            self.tables += block(3, number(1, made) + number(5, self.string(path)))
        return self.mappings[path]

    def location(self, frame):
        if frame not in self.locations:
            name, file, line, binary = frame if isinstance(frame, tuple) else (frame, "", 0, "")
            made = self.locations[frame] = len(self.locations) + 1
            self.tables += block(5, number(1, made) + number(2, self.string(name)) + number(4, self.string(file)))
            inside = number(2, self.mapping(binary)) if binary else b""
            self.tables += block(4, number(1, made) + inside + block(4, number(1, made) + number(2, line)))
        return self.locations[frame]

    def add(self, stack, *values, **labels):
        """Adds a sample; the stack begins with its root."""
        data = packed(1, [self.location(frame) for frame in reversed(stack)]) + packed(2, values)
        for key, value in labels.items():
            text = number(2, self.string(value)) if isinstance(value, str) else number(3, value)
            data += block(3, number(1, self.string(key)) + text)
        self.samples.append(block(2, data))
        return self

    def plain(self):
        types = b"".join(block(1, number(1, self.string(a)) + number(2, self.string(b))) for a, b in self.types)
        body = types + b"".join(self.samples) + self.tables + number(10, int(self.seconds * 1e9))
        return body + b"".join(block(6, text.encode()) for text in self.strings)

    def bytes(self):
        return gzip.compress(self.plain(), mtime=0)


def simple(**shares):
    """Returns a file in which main calls each of these functions, which use the given seconds."""
    writer = Writer()
    for name, seconds in shares.items():
        writer.add(["main", name], round(seconds * 100), round(seconds * 1e9))
    return writer.bytes()
