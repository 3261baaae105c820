# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Decides which stacks are whole, from what the executable files themselves say of their outermost functions.

A stack is whole when its root is a program's entry point, the first function of a thread, or a function that is marked as
having no caller. Where the root has a name, the name decides. In a stripped executable file the address decides: the entry
point is in the file's header, and .eh_frame, as binutils' readelf prints it, marks the other functions (the return address of
their frames is undefined). None of this comes from profd.
"""

import collections
import functools
import re
import subprocess

MAX_PARSED_BYTES = 40 << 20  # of a file whose .eh_frame is printed: libc's is needed, a browser's is not
ENTRY_BYTES = 0x40  # no _start is longer than this

NAMES = re.compile(
    r"^(_start|_start_c|__libc_start_main.*|_dl_start(_user)?|(__)?clone3?|start_thread|__start_context"
    r"|runtime\.(goexit|mstart|mcall|rt0_go|systemstack_switch|morestack)\b.*|_rt0_\w+|gosave_systemstack_switch)(\.\w+)*$"
)

Verdict = collections.namedtuple("Verdict", "whole cut root stopped leaf")


@functools.cache
def elf_facts(path):
    """Returns (entry point, [(file offset, address in the file, size) of each segment], [outermost functions])."""
    try:
        lines = subprocess.run(
            ["readelf", "-hlW", path], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return 0, [], []
    entry, segments = 0, []
    for line in lines:
        words = line.split()
        if words[:3] == ["Entry", "point", "address:"]:
            entry = int(words[3], 16)
        elif words[:1] == ["LOAD"]:
            segments.append((int(words[1], 16), int(words[2], 16), int(words[4], 16)))
    return entry, segments, outermost_functions(path)


def outermost_functions(path):
    """Returns the (first, end) addresses of code whose frames have no return address, or that no call leads to."""
    with open(path, "rb") as file:
        if file.seek(0, 2) > MAX_PARSED_BYTES:
            return []
    found, here, last_end = [], None, 0
    command = ["readelf", "--debug-dump=frames", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as dump:
        for line in dump.stdout:
            match = re.search(r"FDE.*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
            if match:
                here = int(match[1], 16), int(match[2], 16)
                # A return address at a function's first byte is an invented one, as makecontext() sets it. A caller's
                # address is the byte before its return address, and this byte then belongs to no function.
                if last_end < here[0]:
                    found.append((here[0] - 1, here[0] - 1))
                last_end = here[1]
            elif here and re.search(r"DW_CFA_undefined: r16\b", line):
                found.append(here)
                here = None
    return found


def own_address(path, offset):
    """Returns the address in the file of the byte at a file offset."""
    for start, address, size in elf_facts(path)[1]:
        if start <= offset < start + size:
            return offset - start + address
    return None


def is_outermost(path, own):
    """Whether the code at an address in the file belongs to a function without a caller."""
    entry, _, functions = elf_facts(path)
    if entry <= own < entry + ENTRY_BYTES:
        return True
    # A return address may be one past the end of a function whose last instruction is a call.
    return any(first <= own <= end for first, end in functions)


def is_kernel(sample_mapping):
    return sample_mapping.startswith("[kernel")


def judge(profile, sample):
    """Returns a Verdict on the user part of a sample's stack, or None where it has none."""
    if not sample.mappings or is_kernel(sample.mappings[-1]):
        return None
    root, leaf = sample.names[-1], sample.names[0]
    if root.startswith("[unknown"):
        reason = root[1:-1].partition(": ")[2] or "no stack"
        stopped = sample.names[-2] if len(sample.names) > 1 else root
        return Verdict(False, reason, root, stopped, leaf)
    whole = bool(NAMES.match(root))
    if not whole:
        _, address, mapping_id = profile.locations[sample.locations[-1]]
        mapping = profile.mappings.get(mapping_id)
        if mapping:
            own = own_address(mapping["file"], address - mapping["start"] + mapping["offset"])
            whole = own is not None and is_outermost(mapping["file"], own)
    return Verdict(whole, None if whole else "ends elsewhere", root, root, leaf)


class Account:
    """Counts whole and truncated stacks among the samples of one program."""

    def __init__(self, profile, wanted=lambda sample: True):
        self.samples = self.whole = self.without = 0
        self.cuts = collections.Counter()
        self.stopped = collections.Counter()
        self.leaves = collections.Counter()
        for sample in filter(wanted, profile.samples):
            verdict = judge(profile, sample)
            if verdict is None:
                self.without += sample.count
                continue
            self.samples += sample.count
            if verdict.whole:
                self.whole += sample.count
            else:
                self.cuts[verdict.cut] += sample.count
                self.stopped[verdict.stopped] += sample.count
                self.leaves[verdict.leaf] += sample.count

    @property
    def percent(self):
        return 100 * self.whole / self.samples if self.samples else float("nan")
