# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Control groups by which profd tells to what a process belongs."""

import contextlib
import os
import time


def cgroup_root():
    """Returns a hierarchy that names units and containers: systemd's own where there is one, else the unified one."""
    with open("/proc/self/mounts", encoding="ascii", errors="replace") as mounts:
        mounted = [line.split() for line in mounts]
    for _, folder, kind, options, *_ in mounted:
        if kind == "cgroup" and "name=systemd" in options.split(","):
            return folder
    for _, folder, kind, *_ in mounted:
        if kind == "cgroup2":
            return folder
    raise AssertionError("no cgroup hierarchy is mounted")


class Cgroup:
    """A cgroup of that path; the end of the with block removes it and the parents that it made."""

    def __init__(self, path):
        self.made = []
        folder = cgroup_root()
        for name in path.split("/"):
            folder = os.path.join(folder, name)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder)
                self.made.append(folder)
        self.folder = folder

    def add(self, pid):
        with open(os.path.join(self.folder, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(pid))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for folder in reversed(self.made):
            for _ in range(100):  # a killed member leaves a moment after it has been waited for
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
                    break
                time.sleep(0.02)
