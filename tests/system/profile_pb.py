# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A decoder of pprof's profile.proto that uses only the standard library, for exact counts.

It shares no code with the encoder that it tests. test_readers.py compares it with `go tool pprof`.
"""

import collections
import gzip
import math

# One line of a location; the innermost inlined function comes first.
Frame = collections.namedtuple("Frame", "name system_name file line start_line")


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data):
    """Yields (field number, value) pairs: the value is an int, or bytes where length-delimited."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = _varint(data, at)
        elif wire == 2:
            length, at = _varint(data, at)
            value = data[at:at + length]
            if len(value) != length:
                raise ValueError("field runs past the end")
            at += length
        else:
            raise ValueError(f"wire type {wire} has no place in a profile")
        yield tag >> 3, value


def _signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def _numbers(value):
    """Decodes a repeated integer, packed or not."""
    if isinstance(value, int):
        return [_signed(value)]
    numbers, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        numbers.append(_signed(number))
    return numbers


def _message(data, repeated=()):
    """Decodes a message to a dict; fields named in `repeated` become lists of integers."""
    message = {}
    for number, value in _fields(data):
        if number in repeated:
            message.setdefault(number, []).extend(_numbers(value))
        else:
            message[number] = value
    return message


class Sample:
    """One stack: function names and location IDs from the leaf to the root, values, labels."""

    def __init__(self, names, mappings, values, labels, locations):
        self.names, self.mappings, self.values, self.labels = names, mappings, values, labels
        self.locations = locations

    @property
    def count(self):
        return self.values[0]

    def __repr__(self):
        return f"{self.values} {';'.join(reversed(self.names))} {self.labels}"


class Profile:
    """A decoded profile: types, samples, comments, mappings, period, times."""

    def __init__(self, compressed):
        data = gzip.decompress(compressed)
        groups = {}
        for number, value in _fields(data):
            groups.setdefault(number, []).append(value)
        strings = [text.decode() for text in groups.get(6, [])]
        if not strings or strings[0] != "":
            raise ValueError("string 0 must be empty")

        def value_type(raw):
            fields = _message(raw)
            return strings[fields.get(1, 0)], strings[fields.get(2, 0)]

        functions, places = {}, {}
        for raw in groups.get(5, []):
            fields = _message(raw)
            functions[fields[1]] = (strings[fields.get(2, 0)], strings[fields.get(3, 0)])
            places[fields[1]] = (strings[fields.get(4, 0)], fields.get(5, 0))
        self.mappings = {}
        for raw in groups.get(3, []):
            fields = _message(raw)
            self.mappings[fields[1]] = {
                "start": fields.get(2, 0),
                "limit": fields.get(3, 0),
                "offset": fields.get(4, 0),
                "file": strings[fields.get(5, 0)],
                "build_id": strings[fields.get(6, 0)],
            }
        self.locations = {}
        self.frames = {}  # location ID -> its lines
        for raw in groups.get(4, []):
            frames, fields = [], {}
            for number, value in _fields(raw):
                if number == 4:
                    line = _message(value)
                    file, start_line = places[line[1]]
                    frames.append(Frame(*functions[line[1]], file, line.get(2, 0), start_line))
                else:
                    fields[number] = value
            names = [frame.name for frame in frames]
            self.locations[fields[1]] = (names, fields.get(3, 0), fields.get(2, 0))
            self.frames[fields[1]] = frames
        self.types = [value_type(raw) for raw in groups.get(1, [])]
        self.samples = [self._sample(raw, strings) for raw in groups.get(2, [])]
        self.functions = functions
        self.time_ns = groups.get(9, [0])[0]
        self.duration_ns = groups.get(10, [0])[0]
        self.period_type = value_type(groups[11][0]) if 11 in groups else ("", "")
        self.period = groups.get(12, [0])[0]
        self.comments = [strings[i] for raw in groups.get(13, []) for i in _numbers(raw)]

    def _sample(self, raw, strings):
        labels = {}
        fields = _message(raw, repeated=(1, 2))
        for number, value in _fields(raw):
            if number == 3:
                label = _message(value)
                labels[strings[label[1]]] = strings[label[2]] if 2 in label else label.get(3, 0)
        names, files = [], []
        for location in fields.get(1, []):
            frames, _, mapping = self.locations[location]
            names.extend(frames)
            files.append(self.mappings[mapping]["file"] if mapping else "")
        return Sample(names, files, fields[2], labels, fields.get(1, []))

    def total(self, value=0, where=lambda sample: True):
        return sum(sample.values[value] for sample in self.samples if where(sample))


def sigmas(share, samples):
    """Returns four standard deviations, in percent, of a share measured with so many samples."""
    return 400 * math.sqrt(share * (100 - share) / samples) / 100
