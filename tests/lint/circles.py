#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that the modules of daemon/ do not include each other in circles, within a folder or across folders.

A module is the path of a file below daemon/ without its suffix: a/b.c and a/b.h are module a/b. A header X_private.h and the
files that include it are a part of module X. Module A depends on module B if a file of A includes a header of B. In a circle
every module depends on every other one, directly or not, so none of them can be read, tested or changed alone. Each circle
is printed with the includes that make it.

  tests/lint/circles.py [FOLDER]     another folder than daemon/
"""

import collections
import os
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
PRIVATE = "_private"


def read_includes(root):
    """Returns {file: [(line, header)]}, for headers below the folder. All names are relative to it."""
    paths = [os.path.relpath(os.path.join(folder, name), root)
             for folder, _, names in os.walk(root) for name in names if name.endswith((".c", ".h"))]
    found = {}
    for path in sorted(paths):
        with open(os.path.join(root, path), encoding="utf-8") as lines:
            matches = [(number, INCLUDE.match(line)) for number, line in enumerate(lines, 1)]
        found[path] = [(number, match[1]) for number, match in matches if match and match[1] in paths]
    return found


def modules_of(includes):
    """Returns {file: module}."""
    part_of = {}

    def whole(name):
        while name in part_of:
            name = part_of[name]
        return name

    def join(part, name):
        if whole(part) != whole(name):
            part_of[whole(part)] = whole(name)

    stems = {path: os.path.splitext(path)[0] for path in includes}
    for path, stem in stems.items():
        for name in [stem, *(stems[header] for _, header in includes[path])]:
            if name.endswith(PRIVATE):
                join(name, name[:-len(PRIVATE)])
                join(stem, name)
    return {path: whole(stem) for path, stem in stems.items()}


def reached(edges, start):
    """Returns the modules that one depends on, directly or not. It is among them if it is in a circle."""
    seen, todo = set(), [start]
    while todo:
        new = edges[todo.pop()].keys() - seen
        seen |= new
        todo += new
    return seen


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "daemon"
    includes = read_includes(root)
    modules = modules_of(includes)
    edges = collections.defaultdict(lambda: collections.defaultdict(list))
    for path, headers in includes.items():
        for number, header in headers:
            if modules[path] != modules[header]:
                edges[modules[path]][modules[header]].append(f"{os.path.join(root, path)}:{number}: includes {header}")
    reach = {module: reached(edges, module) for module in sorted(set(modules.values()))}
    circles = {tuple(sorted(other for other in reach[module] if module in reach[other])) for module in reach}
    for circle in sorted(filter(None, circles)):
        print(f"circle of {', '.join(circle)}:")
        for module in circle:
            print("\n".join(f"  {line}" for other in circle for line in edges[module][other]))
    # No circle in a graph without edges proves nothing.
    if len(edges) < 100 and root == "daemon":
        print(f"only {len(edges)} modules of {root} include others")
        return 1
    return 1 if any(circles) else 0


if __name__ == "__main__":
    sys.exit(main())
