# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A control group that counts what the processes in it use, by cgroup v1 (the hierarchies of cpuacct and
memory) or v2, whichever this host has; a part that neither can count is None.

    with ControlGroup("daemon") as group:
        subprocess.run(group.joined(["make"]), check=True)
        print(group.cpu_seconds(), group.memory())
"""

import collections
import os
import time

# In bytes. User memory is what is anonymous or shared, kernel memory includes BPF maps. What files have in the
# page cache is counted for whoever read them first, so it is nobody's cost.
Memory = collections.namedtuple("Memory", "user kernel page_cache")

# Each line of it says one folder whose group to join; the rest is the program.
JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit; shift; done; shift; exec "$@"'


def mounts():
    """What can be counted -> (where it is mounted, 1 or 2)."""
    found = {}
    with open("/proc/self/mounts", encoding="utf-8") as lines:
        for line in lines:
            _, path, kind, options = line.split()[:4]
            if kind == "cgroup":
                for name in {"cpuacct", "memory"} & set(options.split(",")):
                    found[name] = path, 1
            elif kind == "cgroup2":
                found.setdefault("cpuacct", (path, 2))
                found.setdefault("memory", (path, 2))
    return found


def number(path):
    with open(path, encoding="ascii") as file:
        return int(file.read())


def table(path):
    """name -> number, of a file of such lines."""
    with open(path, encoding="ascii") as lines:
        return {name: int(value) for name, value in (line.split() for line in lines)}


class ControlGroup:
    """Made at once, in every hierarchy that counts something; removed at the end of the with block, when all its
    processes have ended."""

    def __init__(self, name):
        self.folders, self.version = {}, {}
        for what, (path, version) in mounts().items():
            folder = os.path.join(path, f"profd-bench-{os.getpid()}-{name}")
            try:
                os.makedirs(folder, exist_ok=True)
            except OSError:
                continue  # not ours to make, in a container
            self.folders[what], self.version[what] = folder, version
        if self.version.get("memory") == 2 and not os.path.exists(self.folders["memory"] + "/memory.stat"):
            del self.folders["memory"]  # the controller is not enabled there

    def joined(self, argv):
        """The command that runs another one in the group; it is the same process, and its pid stays."""
        return ["sh", "-c", JOIN, "sh", *sorted(set(self.folders.values())), "--", *argv]

    def cpu_seconds(self):
        """What its processes have used so far, also those that have ended."""
        folder = self.folders.get("cpuacct")
        if folder is None:
            return None
        if self.version["cpuacct"] == 1:
            return number(folder + "/cpuacct.usage") / 1e9
        return table(folder + "/cpu.stat")["usage_usec"] / 1e6

    def memory(self):
        folder = self.folders.get("memory")
        if folder is None:
            return None
        stat = table(folder + "/memory.stat")
        if self.version["memory"] == 1:
            kernel = number(folder + "/memory.kmem.usage_in_bytes")
            shared = stat["total_shmem"]
            return Memory(stat["total_rss"] + shared, kernel, stat["total_cache"] - shared)
        # "kernel" has been there since Linux 5.18; the parts before have no sum.
        parts = ("slab", "kernel_stack", "pagetables", "percpu", "vmalloc", "sock")
        kernel = stat.get("kernel", sum(stat.get(part, 0) for part in parts))
        return Memory(stat["anon"] + stat["shmem"], kernel, stat["file"] - stat["shmem"])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for folder in set(self.folders.values()):
            # A process that was waited for may be in it for a moment.
            for _ in range(100):
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    pass
                except OSError:
                    time.sleep(0.02)
                    continue
                break


def counts(what):
    """Whether "cpuacct" or "memory" can be counted here, and by which version."""
    with ControlGroup("probe") as group:
        return group.version[what] if what in group.folders else None


def described():
    """Who counts what, for the head of a report."""
    cpu, memory = counts("cpuacct"), counts("memory")
    return "; ".join((
        f"CPU time by control groups v{cpu}" if cpu else
        "NO control group counts CPU time here: that of programs is their rusage, that of the daemon is not known",
        f"memory by control groups v{memory}" if memory else "NO control group counts memory here: it is not known",
    ))
