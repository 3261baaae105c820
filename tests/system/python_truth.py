# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Decides whether the Python frames of a stack are possible, by what a script's source says of its calls, and what the
interpreter that runs it says of its code objects.

A frame is right when the interpreter has a function with this name and first line that contains the frame's line. Two
consecutive frames are right when the caller's line calls the other function (see workloads/python/edges.py). A missing frame,
an extra one, one out of order or one of another thread makes an impossible pair.
"""

import collections
import functools
import json
import re
import subprocess

# A Python frame; lists of them begin with the outermost. `at` is its index in the sample's frames.
Frame = collections.namedtuple("Frame", "name file line start_line at")

ANONYMOUS = re.compile(r"<(lambda|genexpr|listcomp|setcomp|dictcomp)>$")
MADE_AT_RUN_TIME = {
    "<made>": "def made(count):\n    return burn(count)  # -> burn\n\n\nmade(30)  # -> made\n",
    "<string>": "leaf(30)  # -> leaf",
}

DUMP = """
import dis, json, sys
def walk(code):
    lines = {line for _, line in dis.findlinestarts(code)}
    # Some instructions have no line: they are shown at that of the one before.
    lines |= {line for _, _, line in getattr(code, "co_lines", list)()}
    lines = sorted({line or code.co_firstlineno for line in lines})
    yield getattr(code, "co_qualname", code.co_name), code.co_firstlineno, lines
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            yield from walk(const)
print(json.dumps([list(walk(compile(text, name, "exec"))) for name, text in json.load(sys.stdin).items()]))
"""


def is_python(mapping):
    return mapping.startswith("[python ")


def python_frames(profile, sample):
    """Returns the sample's Python frames, outermost first."""
    found, at = [], 0
    for location, mapping in zip(sample.locations, sample.mappings):
        frames = profile.frames[location]
        if is_python(mapping):
            found += [Frame(f.name, f.file, f.line, f.start_line, at + i) for i, f in enumerate(frames)]
        at += len(frames)
    return found[::-1]


@functools.cache
def codes_of(python, path):
    """Returns {file: {(name, first line): its lines}} of a script, as the interpreter compiles it."""
    with open(path, encoding="utf-8") as file:
        texts = {path: file.read(), **MADE_AT_RUN_TIME}
    answer = subprocess.run(
        [python, "-S", "-c", DUMP], input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=60
    ).stdout
    return {
        name: {(function, first): frozenset([*lines, first]) for function, first, lines in codes}
        for name, codes in zip(texts, json.loads(answer))
    }


def _calls(text):
    """Returns line -> the names that the line calls."""
    found = enumerate((re.search(r"# -> (.*)", line) for line in text.splitlines()), 1)
    return {number: frozenset(match[1].split()) for number, match in found if match}


class Truth:
    """The stacks that a script can have in one interpreter."""

    def __init__(self, python, path):
        self.path = path
        self.codes = codes_of(python.path, path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.calls = {name: _calls(made) for name, made in MADE_AT_RUN_TIME.items()}
        self.calls[path] = _calls(text)
        self.called_by_library = set(re.findall(r"def (\w+)\(.*# <- \*", text))

    def ours(self, frame):
        return frame.file in self.codes

    def is_right(self, frame):
        """Whether a frame by itself is possible."""
        if not self.ours(frame):
            return self.is_library(frame)
        lines = self.codes[frame.file].get((frame.name, frame.start_line))
        return lines is not None and frame.line in lines

    def is_library(self, frame):
        """Whether the code belongs to the standard library: to one of its files, or to code frozen into the interpreter."""
        return bool(re.search(r"/python3\.\d+t?/[\w/]+\.py$", frame.file)) or frame.file.startswith("<frozen ")

    def may_begin(self, frame):
        if self.ours(frame):
            return frame.name == "<module>" and frame.file == self.path
        return frame.name.endswith("_bootstrap")

    def may_call(self, caller, callee):
        name = callee.name.rpartition(".")[2]
        if not self.ours(caller):
            return not self.ours(callee) or name in self.called_by_library
        called = self.calls[caller.file].get(caller.line, ())
        if not self.ours(callee):
            return "*" in called
        if ANONYMOUS.search(name) and callee.start_line != caller.line:
            return "any" in called
        return name in called or "any" in called

    def judge(self, frames):
        """Returns (pairs, what is wrong with them); the root forms a pair with the outside of the stack."""
        wrong = []
        if not frames or not self.may_begin(frames[0]):
            wrong.append(("root", frames[0] if frames else None))
        wrong += [("frame", frame) for frame in frames if not self.is_right(frame)]
        wrong += [
            ("call", caller, callee) for caller, callee in zip(frames, frames[1:])
            if not self.may_call(caller, callee)
        ]
        return max(len(frames), 1), wrong


Verdict = collections.namedtuple("Verdict", "samples pairs wrong examples")


def verdict(truth, profile, where=lambda sample: True):
    """Returns the Verdict on a whole profile; examples are (count, errors, names of the stack)."""
    samples = pairs = wrong = 0
    examples = []
    for sample in filter(where, profile.samples):
        frames = python_frames(profile, sample)
        in_it, bad = truth.judge(frames)
        samples += sample.count
        pairs += in_it * sample.count
        wrong += min(len(bad), in_it) * sample.count
        if bad:
            examples.append((sample.count, bad, sample.names))
    return Verdict(samples, pairs, wrong, sorted(examples, key=lambda e: -e[0]))
