#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""memory.py BUILD: checks that the memory table of systemd/README.md agrees with the sources, and that the unit's limits leave
room for its sum. BUILD is a folder with profd.

The last column of a row says where its MiB come from: constants and settings in backquotes, each with its factor
(`MAX_IMAGES` × 144, `symbol-memory` × 3/4), joined by commas; or "measured". A constant whose name occurs in several files has
its file before it: `fetch/cache.c:MAX_FILES`.
"""

import fractions
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MIB = 1 << 20
UNITS = {"KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30, "M": MIB, "G": 1 << 30}
ROW = re.compile(r"^\| (.*?) +\| +(\d+) \|(?: (.*?) *\|)?$", re.MULTILINE)
TERM = re.compile(r"`([\w:./-]+)`(?: × ([\d/]+))?")
DEFINED = re.compile(r"\b(?:([A-Z]\w+)|static const \w+ (\w+))\s*=\s*([^,;}/]+)")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def constants():
    """Returns name, and file:name -> expressions, of all constants of the daemon and the kernel half."""
    paths = subprocess.run(["git", "ls-files", "daemon/*.[ch]", "bpf/*.h"], check=True, capture_output=True, text=True).stdout.split()
    found = {}
    for path in paths:
        for upper, lower, value in DEFINED.findall(text_of(path)):
            for name in (upper or lower, f"{path.split('/', 1)[1]}:{upper or lower}"):
                found.setdefault(name, set()).add(value.strip())
    return found


def settings():
    """Returns key -> default, as the newly built program prints them."""
    text = subprocess.run([os.path.join(sys.argv[1], "profd"), "config", "show", "--config", "/dev/null"], check=True,
                          capture_output=True, text=True).stdout
    return dict(re.findall(r"^([\w-]+) = (\d+[KMG]iB)$", text, re.MULTILINE))


def value_of(name, known, sizes):
    if name in sizes:
        number, unit = re.fullmatch(r"(\d+)(\w+)", sizes[name]).groups()
        return int(number) * UNITS[unit]
    expression, *others = known[name]
    if others:
        raise KeyError(f"one value of {name}")
    words = re.findall(r"[A-Z]\w+|\d+|<<|[*+()-]", expression)
    # With all names replaced, only numbers and operators are left.
    return eval(" ".join(str(value_of(word, known, sizes)) if word[0].isalpha() else word for word in words))  # noqa: S307


def bytes_of(source, known, sizes):
    return sum(value_of(name, known, sizes) * fractions.Fraction(times or 1) for name, times in TERM.findall(source))


def limits():
    unit = text_of("systemd/profd.service")
    return [int(number) * UNITS[unit_] for number, unit_ in re.findall(r"^Memory(?:High|Max)=(\d+)([MG])$", unit, re.MULTILINE)]


def main():
    section = text_of("systemd/README.md").split("## Memory", 1)[1].split("\n## ", 1)[0]
    known, sizes, wrong, together = constants(), settings(), [], 0
    rows = ROW.findall(section)
    for what, mib, source in rows[:-1]:
        together += int(mib)
        try:
            wanted = bytes_of(source, known, sizes)
        except KeyError as name:
            wrong.append(f"{what}: there is no {name}")
            continue
        if source != "measured" and -(-wanted // MIB) != int(mib):
            wrong.append(f"{what}: {mib} MiB, but {source} are {float(wanted / MIB):.1f}")
    if not rows or int(rows[-1][1]) != together:
        wrong.append(f"together they are {together}")
    high, most = limits()
    if not together * MIB <= high < most:
        wrong.append(f"MemoryHigh= is to be above {together}M, and MemoryMax= above that")
    for line in wrong:
        print(f"systemd/README.md: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
