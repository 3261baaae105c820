#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that the stacks of the BPF programs are small enough for the oldest kernels: each chain of calls may use 512 bytes,
and these kernels count every frame in steps of 32. Newer ones that compile the programs count in smaller steps. No kernel
allows more than eight frames.

  tests/lint/stack.py OBJECT     the linked object

Source: kernel/bpf/verifier.c of Linux 6.1, check_max_stack_depth().
"""

import functools
import re
import subprocess
import sys

MAX_BYTES, STEP, MAX_CALLS = 512, 32, 8


class Function:
    def __init__(self):
        self.bytes, self.calls = 0, set()

    def size(self):
        return max(STEP, (self.bytes + STEP - 1) // STEP * STEP)


def disassemble(path):
    """Yields (section, text) of each line."""
    text = subprocess.run(["llvm-objdump", "-dr", path], check=True, capture_output=True,
                          text=True).stdout
    section = None
    for line in text.splitlines():
        header = re.match(r"Disassembly of section (\S+):", line)
        section = header.group(1) if header else section
        yield section, line


def functions_of(path):
    """Returns name -> Function. The relocation of a call names the callee, or its place in a section; so does the one of
    bpf_loop()'s argument. Some calls within a section have no relocation: they have the distance in instructions."""
    lines = list(disassemble(path))
    labels = {(section, int(match.group(1), 16)): match.group(2) for section, line in lines
              for match in [re.match(r"([0-9a-f]+) <(?!LBB)(\S+)>:", line)] if match}
    names, functions, current = set(labels.values()), {}, None
    texts = [line for _, line in lines]
    for before, (section, line), after in zip([""] + texts, lines, texts[1:] + [""]):
        label = re.match(r"[0-9a-f]+ <(?!LBB)(\S+)>:", line)
        if label:
            current = functions.setdefault(label.group(1), Function())
        if current is None:
            continue
        used = re.findall(r"\(r10 - (\w+)\)", line)
        if before.endswith("= r10"):
            used += re.findall(r"r\d+ \+= -(\w+)$", line)
        current.bytes = max([current.bytes, *(int(number, 0) for number in used)])
        near = re.match(r"\s*(\d+):\s+85 10(?: \w\w){6}\s+call (-?\w+)$", line)
        if near and "R_BPF" not in after:
            current.calls.add(labels[section, (int(near.group(1)) + int(near.group(2), 0) + 1) * 8])
        relocation = re.search(r"R_BPF_64_(32|64)\s+(\S+)", line)
        if relocation:
            to = relocation.group(2)
            number = re.search(r"(?:call|=) (-?\w+)(?: ll)?(?: <\S+>)?$", before)
            if to not in names and number and re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", number.group(1)):
                at = int(number.group(1), 0)
                to = labels.get((to, at if relocation.group(1) == "64" else (at + 1) * 8))
            current.calls |= {to} & names
    return functions


def main():
    functions = functions_of(sys.argv[1])

    @functools.lru_cache(None)
    def deepest(name):
        below = max((deepest(call) for call in functions[name].calls - {name}), default=(0, ()))
        return below[0] + functions[name].size(), (f"{name} {functions[name].bytes}", *below[1])

    @functools.lru_cache(None)
    def longest(name):
        return (name, *max(map(longest, functions[name].calls - {name}), key=len, default=()))

    if not functions:
        sys.exit(f"no functions in {sys.argv[1]}")
    total, chain = max(map(deepest, functions))
    calls = max(map(longest, functions), key=len)
    print(f"{total} bytes: " + ", ".join(chain))
    print(f"{len(calls)} calls: " + ", ".join(calls))
    return 0 if total <= MAX_BYTES and len(calls) <= MAX_CALLS and len(chain) > 1 else 1


if __name__ == "__main__":
    sys.exit(main())
