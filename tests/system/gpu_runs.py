# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs programs on the stand-ins for CUDA under a daemon: sends them commands, reads their reports, and reads profiles."""

import collections
import contextlib
import glob
import json
import os
import subprocess
import tempfile
import time

import daemon
from heap_runs import _link_fields, until
from pprof import pprof
from workload import Workload, workload_path

CUDA = workload_path("cuda")
PYTHON_SCRIPT = os.path.join(daemon.ROOT, "tests", "workloads", "cuda", "gpu_python.py")
DRIVER = "libcuda.so.535.54.03"
HELD = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]
PATIENCE = 60


class GpuProgram(Workload):
    """A program of workloads/cuda, which reads commands as lines; `said` is its latest report."""

    def __init__(self, name, *arguments, **environment):
        environment = {**os.environ, "LD_LIBRARY_PATH": CUDA, **environment}
        super().__init__(os.path.join(CUDA, name), *arguments, stdin=subprocess.PIPE, env=environment)
        self.said = None

    def tell(self, *commands):
        """Sends the commands one by one; returns the report after the last."""
        for command in commands:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"{self.process.args} ended at {command}: {self.process.wait()}")
            self.said = json.loads(line)
        return self.said

    def end(self):
        """Closes the program's input, so that the program ends by itself."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def __exit__(self, *unused):
        super().__exit__(*unused)
        with contextlib.suppress(OSError):
            self.process.stdin.close()


def python_program(python):
    """Runs the Python script with an interpreter."""
    return GpuProgram(python.path, PYTHON_SCRIPT)


def probed(server):
    """Returns file -> number of links on it, of the stand-ins in which a daemon has probes."""
    paths = [fields.get("path", "") for fields in _link_fields(server)]
    return collections.Counter(os.path.basename(path) for path in paths if path.startswith(CUDA + "/"))


def wait_probed(server, *files):
    """Waits until all these files have probes and no new ones have been attached for half a second."""
    last, since, end = None, time.monotonic(), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = probed(server)
        if found != last:
            last, since = found, time.monotonic()
        if all(found[file] for file in files) and time.monotonic() > since + 0.5:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{files} are not probed, only {dict(last)}: {server.log()}")


@contextlib.contextmanager
def watching(*program, files=(DRIVER,), first=()):
    """A daemon that has probes in these files before a test's program starts, so that it also sees the creation of contexts
    and the lookup of names. One program of this kind, which has executed the commands `first`, keeps running beside the test's.
    """
    with daemon.Daemon() as server, GpuProgram(*program) as beside:
        beside.tell(*first)
        wait_probed(server, *files)
        yield server


class Sums:
    """Sums of one of a profile's values, over the samples that have a function in their stacks and the given labels."""

    def __init__(self, profile):
        self.profile = profile
        self.values = [name for name, _ in profile.types]

    def sum(self, value, function=None, **labels):
        index = self.values.index(value)
        return self.profile.total(index, lambda s: (function is None or function in s.names)
                                  and all(s.labels.get(k) == v for k, v in labels.items()))

    def by(self, value, label):
        """Returns text of the label -> sum, over all samples."""
        index, sums = self.values.index(value), collections.Counter()
        for sample in self.profile.samples:
            sums[sample.labels.get(label, "")] += sample.values[index]
        return {text: total for text, total in sums.items() if total}

    def leaves(self, value):
        """Returns name of the leaf -> sum."""
        index, sums = self.values.index(value), collections.Counter()
        for sample in self.profile.samples:
            sums[sample.names[0] if sample.names else ""] += sample.values[index]
        return {name: total for name, total in sums.items() if total}


def sums_of(server, program, kind, query=""):
    """Returns the Sums of everything recorded of a program."""
    asked = f"type={kind}&pid={program.pid}{query}"
    if kind not in ("gpu_memory", "gpu_tensor"):
        asked += "&last=5m"
    return Sums(server.profile(asked))


def held_by_pprof(server, program, value, kind="gpu_memory"):
    """Returns function -> cumulative bytes, as `go tool pprof` reads the same profile."""
    answer = server.get(f"/profile?type={kind}&pid={program.pid}")
    with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
        file.write(answer.body)
        file.flush()
        text = pprof("-top", "-unit=B", "-nodecount=500", "-nodefraction=0", "-edgefraction=0", f"-sample_index={value}",
                     file.name)
    rows = {}
    for line in text.splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[3].endswith("B") and fields[1].endswith("%"):
            rows[fields[5].removesuffix(" (inline)")] = int(float(fields[3].removesuffix("B")))
    return rows


def changes(before, after):
    """Returns how much the numbers of {name: [numbers]} have grown."""
    return {name: [b - a for a, b in zip(before.get(name, [0] * len(row)), row)] for name, row in after.items()}


def gpu_of(server, pid):
    """Returns device -> the row of /gpu for a process and the device."""
    return {row["device"]: row for row in server.json("/gpu")["processes"] if row["pid"] == pid}


def others_map_the_driver():
    """Whether a process of this host has a libcuda.so.1 mapped."""
    for maps in glob.glob("/proc/[0-9]*/maps"):
        with contextlib.suppress(OSError), open(maps, encoding="utf-8", errors="replace") as file:
            if "/libcuda.so." in file.read():
                return True
    return False


__all__ = ["CUDA", "DRIVER", "HELD", "GpuProgram", "Sums", "changes", "gpu_of", "held_by_pprof", "others_map_the_driver",
           "probed", "python_program", "sums_of", "until", "wait_probed", "watching"]
