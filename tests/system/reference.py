# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What other tools say about a file's addresses: functions, inlined calls, lines, bounds.

None of them shares its reader of DWARF with profd. Two are asked for lines, because each of them is
wrong somewhere: binutils 2.40 finds no inlined calls in much of DWARF 5, LLVM 14 has no Fortran.
"""

import collections
import functools
import os
import re
import subprocess

# The innermost inlined function comes first. "" and 0: not known.
Place = collections.namedtuple("Place", "function file line")


def _place(function, where):
    # Go's linker marks the calling convention; Fortran's symbol of a program is not its name.
    function = re.sub(r"\.abi(0|internal)$", "", function)
    where = re.sub(r" \(discriminator.*", "", where)
    file, _, line = where.rpartition(":")
    known = file not in ("", "??")
    return Place(
        "" if function in ("??", "MAIN__") else function,
        os.path.normpath(file) if known else "",
        int(line) if known and line.isdigit() else 0,
    )


def _ask(command, addresses):
    """address -> [Place], from a tool that answers in addr2line's manner with -a -f -i."""
    text = subprocess.run(
        command, input="\n".join(map(hex, addresses)), capture_output=True, text=True, check=True, timeout=60
    ).stdout
    answers, function = {}, None
    for line in filter(None, text.splitlines()):
        if re.fullmatch(r"0x[0-9a-f]+", line):
            places, function = answers.setdefault(int(line, 16), []), None
        elif function is None:
            function = line
        else:
            places.append(_place(function, line))
            function = None
    return answers


def addr2line(path, addresses, demangle=False):
    return _ask(["addr2line", "-a", "-f", "-i", *(["-C"] if demangle else []), "-e", path], addresses)


def llvm_symbolizer(path, addresses):
    return _ask(
        ["llvm-symbolizer", "--no-demangle", "--inlining", "--output-style=GNU", "-a", "-e", path], addresses
    )


def go_addr2line(path, addresses, environment):
    """address -> Place of the innermost call, by `go tool addr2line`."""
    text = subprocess.run(
        ["go", "tool", "addr2line", path], input="\n".join(map(hex, addresses)) + "\n",
        capture_output=True, text=True, check=True, timeout=60, env=environment,
    ).stdout.splitlines()
    return {address: _place(*text[2 * i:2 * i + 2]) for i, address in enumerate(addresses)}


def demangle(names):
    text = subprocess.run(
        ["c++filt"], input="\n".join(names) + "\n", capture_output=True, text=True, check=True, timeout=60
    ).stdout
    return dict(zip(names, text.splitlines()))


def agrees(frames, references):
    """Whether a location's frames are what the references say. They agree among themselves, or one of
    them must say the same, line by line; a function must have the name that one of them gives it.
    """
    lines = [(os.path.normpath(frame.file) if frame.file else "", frame.line) for frame in frames]
    same = [r for r in references if [(place.file, place.line) for place in r] == lines]
    return bool(same) and all(
        any(r[i].function in ("", frame.name, frame.system_name) for r in same)
        for i, frame in enumerate(frames)
    )


@functools.cache
def frame_bounds(path):
    """The sorted (start, end) of each FDE, as binutils' readelf prints them."""
    text = subprocess.run(
        ["readelf", "--debug-dump=frames", path], capture_output=True, text=True, check=False, timeout=120
    ).stdout
    found = re.findall(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)
    return sorted((int(start, 16), int(end, 16)) for start, end in found)


def debug_file(build_id):
    """Where a distribution's package has the debug file of a build ID."""
    return f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
