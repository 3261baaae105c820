# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Control groups with a memory limit, made for a test."""

import contextlib
import os
import time


class MemoryGroup:
    """A control group with a memory limit, of the cgroup version that this host has."""

    def __init__(self, name, limit):
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            mounted = [line.split() for line in mounts]
        self.v1, root = False, None
        for fields in mounted:
            kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
            if kind == "cgroup" and "memory" in options:
                self.v1, root = True, fields[4]
                break
            if kind == "cgroup2":
                root = fields[4]
        if not self.v1:
            with contextlib.suppress(OSError), open(f"{root}/cgroup.subtree_control", "w", encoding="ascii") as file:
                file.write("+memory")
        self.path = os.path.join(root, name)
        os.mkdir(self.path)
        if self.v1:
            self.write("memory.limit_in_bytes", limit)
            with contextlib.suppress(OSError):
                self.write("memory.memsw.limit_in_bytes", limit)
        else:
            self.write("memory.max", limit)
            with contextlib.suppress(OSError):
                self.write("memory.swap.max", 0)

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def used(self):
        """Returns the group's memory use as the kernel counts it."""
        name = "memory.usage_in_bytes" if self.v1 else "memory.current"
        with open(os.path.join(self.path, name), encoding="ascii") as file:
            return int(file.read())

    def add(self, pid):
        self.write("cgroup.procs", pid)

    def remove(self):
        end = time.monotonic() + 10
        while True:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
