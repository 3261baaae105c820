# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A control group that counts what its processes use, by cgroup v1 (the hierarchies of cpuacct and memory) or v2,
whichever this host has; a figure that neither can count is None.

    with ControlGroup("daemon") as group:
        subprocess.run(group.joined(["make"]), check=True)
        print(group.cpu_seconds(), group.memory())
"""

import collections
import os
import time

# In bytes. User memory is anonymous and shared memory; kernel memory includes BPF maps. The page cache of a file is
# charged to whichever process read the file first, so it counts as no program's cost.
Memory = collections.namedtuple("Memory", "user kernel page_cache")

# A shell script: each argument before "--" is the folder of a group to join; the rest is the program.
JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit; shift; done; shift; exec "$@"'


def mounts():
    """Returns each thing that can be counted -> (mount point, cgroup version)."""
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
    """Returns name -> number, of a file with such lines."""
    with open(path, encoding="ascii") as lines:
        return {name: int(value) for name, value in (line.split() for line in lines)}


class ControlGroup:
    """A group in every hierarchy that counts something. The constructor makes it; the end of the with block removes it, when
    all its processes have ended."""

    def __init__(self, name):
        self.folders, self.version = {}, {}
        for what, (path, version) in mounts().items():
            folder = os.path.join(path, f"profd-bench-{os.getpid()}-{name}")
            try:
                os.makedirs(folder, exist_ok=True)
            except OSError:
                continue  # a container may not create groups
            self.folders[what], self.version[what] = folder, version
        if self.version.get("memory") == 2 and not os.path.exists(self.folders["memory"] + "/memory.stat"):
            del self.folders["memory"]  # the memory controller is not enabled in the hierarchy

    def joined(self, argv):
        """Returns a command that runs another one in the group, in the same process: the pid stays."""
        return ["sh", "-c", JOIN, "sh", *sorted(set(self.folders.values())), "--", *argv]

    def cpu_seconds(self):
        """Returns the CPU time of the group's processes so far, including those that have ended."""
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
        # memory.stat has "kernel" since Linux 5.18; before that there is no sum of these parts.
        parts = ("slab", "kernel_stack", "pagetables", "percpu", "vmalloc", "sock")
        kernel = stat.get("kernel", sum(stat.get(part, 0) for part in parts))
        return Memory(stat["anon"] + stat["shmem"], kernel, stat["file"] - stat["shmem"])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for folder in set(self.folders.values()):
            # A process that has been waited for may stay in the group for a moment.
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
    """Returns the cgroup version by which "cpuacct" or "memory" can be counted here, or None."""
    with ControlGroup("probe") as group:
        return group.version[what] if what in group.folders else None


def described():
    """Says which hierarchies count what, for the head of a report."""
    cpu, memory = counts("cpuacct"), counts("memory")
    return "; ".join((
        f"CPU time by control groups v{cpu}" if cpu else
        "NO control group counts CPU time here: that of programs is their rusage, that of the daemon is not known",
        f"memory by control groups v{memory}" if memory else "NO control group counts memory here: it is not known",
    ))
