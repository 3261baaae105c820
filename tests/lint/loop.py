#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that the loop thread cannot come to a call that waits: for a file system, a process, a name server. Everything that
daemon_run() refers to, as a call or as a pointer, directly or through tables and other functions, counts as run by the loop,
except the functions that run on other threads. tests/lint/loop lists those functions, the calls that wait, and the files that
may make such calls, with the reason. An entry that is no longer needed is an error, too.

  tests/lint/loop.py BUILD            the folder with the daemon's objects
  tests/lint/loop.py BUILD --all      ignores the exceptions: prints a chain to each call
"""

import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile

ROOT = ("daemon/daemon", "daemon_run")
LIST = os.path.join(os.path.dirname(__file__), "loop")


def read_list(path):
    """Returns {kind: {what: why}}; the kinds are blocks, away and may."""
    found = {"blocks": {}, "away": {}, "may": {}}
    with open(path, encoding="ascii") as lines:
        for line in filter(str.strip, (line.split("#")[0] for line in lines)):
            kind, rest = line.split(maxsplit=1)
            if kind == "blocks":
                found[kind].update(dict.fromkeys(rest.split(), ""))
                continue
            file, what, why = rest.split(maxsplit=2)
            found[kind][f"daemon/{file}", what] = why
    return found


def objdump(*arguments):
    return subprocess.run(["objdump", "--no-show-raw-insn", *arguments], check=True, capture_output=True, text=True).stdout


class Module:
    """One object file: its functions and variables, and what each of them refers to."""

    def __init__(self, path, name):
        self.name, self.edges = name, collections.defaultdict(set)
        self.places, self.names, self.globals = collections.defaultdict(list), set(), set()
        for line in objdump("-t", path).splitlines():
            symbol = re.match(r"([0-9a-f]+) (.).....([FO]) (\S+)\t[0-9a-f]+ +(?:\.hidden )?(\S+)$", line)
            if symbol:
                self.places[symbol[4]].append((int(symbol[1], 16), symbol[5]))
                self.names.add(symbol[5])
                if symbol[2] != "l":
                    self.globals.add(symbol[5])
        for places in self.places.values():
            places.sort()
        self.read_code(objdump("-dr", path))
        self.read_data(objdump("-r", path))

    def at(self, section, offset):
        places = self.places.get(section, [])
        index = bisect.bisect_right(places, (offset, "\x7f")) - 1
        return places[index][1] if index >= 0 else None

    def target(self, relocation):
        """Returns what "TYPE symbol+offset" refers to. On x86 a relative address counts from the end of the instruction."""
        kind, symbol, sign, offset = re.match(r"(\S+)\s+([^\s+]+?)(?:([+-])0x([0-9a-f]+))?$", relocation).groups()
        if symbol not in self.places:
            return symbol
        behind = 4 if re.search(r"X86_64_(PC|PLT|GOTPC)", kind) else 0
        return self.at(symbol, int(offset or "0", 16) * (-1 if sign == "-" else 1) + behind)

    def read_code(self, text):
        function = direct = None
        for line in text.splitlines():
            label = re.match(r"[0-9a-f]+ <(\S+)>:$", line)
            relocation = re.match(r"\s+[0-9a-f]+: (R_\S+\s+\S+)$", line)
            # The relocation after a call names its target. A call without one stays within the section.
            if direct and not relocation:
                self.edges[function].add(direct)
            direct = None
            if label:
                function = label[1]
            elif relocation:
                self.edges[function].add(self.target(relocation[1]))
            else:
                named = re.match(r"\s+[0-9a-f]+:\s.*<([^>+]+)>$", line)
                direct = named and named[1]

    def read_data(self, text):
        section = None
        for line in text.splitlines():
            header = re.match(r"RELOCATION RECORDS FOR \[(\S+)\]:", line)
            entry = re.match(r"([0-9a-f]+) (R_\S+\s+\S+)$", line)
            section = header[1] if header else section
            if entry and re.match(r"\.(data|rodata)", section):
                self.edges[self.at(section, int(entry[1], 16))].add(self.target(entry[2]))


def modules_of(build):
    for folder, _, files in sorted(os.walk(os.path.join(build, "daemon"))):
        for file in sorted(files):
            if file.endswith(".o") and os.path.exists(os.path.relpath(os.path.join(folder, file[:-2] + ".c"), build)):
                path = os.path.join(folder, file)
                yield Module(path, os.path.relpath(path, build)[:-2])


class Walk:
    """Walks from daemon_run() to everything that the loop runs; `found` has a chain to each (file, call) that waits."""

    def __init__(self, modules, rules):
        self.modules, self.rules = {module.name: module for module in modules}, rules
        self.owners = {name: module for module in self.modules.values() for name in module.globals}
        self.found, self.away, self.seen = {}, set(), {ROOT: None}
        queue = collections.deque([ROOT])
        while queue:
            here = queue.popleft()
            for name in self.modules[here[0]].edges.get(here[1], ()):
                if name in rules["blocks"]:
                    self.found.setdefault((here[0], name), here)
                    continue
                own = self.modules[here[0]]
                owner = own if name in own.names else self.owners.get(name)
                node = owner and (owner.name, name)
                if node in rules["away"]:
                    self.away.add(node)
                elif node and node not in self.seen:
                    self.seen[node] = here
                    queue.append(node)

    def chain(self, node):
        names = []
        while node:
            names.append(f"{node[0][len('daemon/'):]}:{node[1]}")
            node = self.seen[node]
        return " < ".join(names)


# One call for each way that leads to one, and one call that must be left out.
PLANTED = """
extern int open(const char *, int, ...), stat(const char *, void *), poll(void *, long, int), access(const char *, int);
#define APART __attribute__((noinline)) static int
APART called(void) { return open("/", 0) + 1; }
APART tabled(void) { return stat("/", 0) + 1; }
APART passed(void) { return poll(0, 0, 0) + 1; }
APART elsewhere(void) { return access("/", 0) + 1; }
static int (*const table[])(void) = {tabled, tabled};
int started(int (*)(void), int);
int daemon_run(int at) { return called() + table[at & 1]() + started(passed, 1) + started(elsewhere, 2); }
"""


def sees():
    """Whether the walk finds the planted calls, and leaves out the one that runs on another thread."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "planted.o")
        subprocess.run(["gcc", "-O2", "-c", "-x", "c", "-", "-o", path], input=PLANTED, text=True, check=True)
        walk = Walk([Module(path, ROOT[0])], {"blocks": {"open", "stat", "poll", "access"}, "away": {(ROOT[0], "elsewhere")}})
    return {call for _, call in walk.found} == {"open", "stat", "poll"} and walk.away == {(ROOT[0], "elsewhere")}


def main():
    rules, modules = read_list(LIST), list(modules_of(sys.argv[1]))
    walk = Walk(modules, rules)
    may = {} if "--all" in sys.argv else rules["may"]
    wrong = [f"{call}() in {walk.chain(node)}" for (file, call), node in walk.found.items() if (file, call) not in may]
    wrong += [f"{LIST}: {file} {call} is not needed" for file, call in may if (file, call) not in walk.found]
    wrong += [f"{LIST}: {file} {name} is no longer there" for file, name in rules["away"] if (file, name) not in walk.away]
    # A run without errors proves little if the graph was read wrongly.
    if len(walk.seen) < 1000 or not sees():
        wrong.append(f"of the loop only {len(walk.seen)} functions and tables were found, or no planted calls")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
