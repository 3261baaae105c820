# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Starts the daemon, reads its profiles of a program, and compares their growth with what the program did meanwhile."""

import collections
import contextlib
import os
import re
import shutil
import time

import daemon
from checking import FOLDER, KEPT, compare, judge, keep, say
from gpu_runs import Sums
from heap_runs import uprobe_paths
from python_truth import python_frames

MEMORY = ("gpu_memory", "gpu_tensor")
CALLS = ("gpu_launch", "gpu_copy", "gpu_wait")
HELPER = os.path.join(daemon.BUILD, "libprofd-cuda.so")


@contextlib.contextmanager
def running(name, *options):
    """A daemon. Its log is kept."""
    began = time.monotonic()
    with daemon.Daemon(*options) as server:
        judge(f"start-{name}", True, f"ready after {time.monotonic() - began:.1f} s, options {' '.join(options)}")
        try:
            yield server
        finally:
            with contextlib.suppress(OSError):
                shutil.copy(server.log_path, os.path.join(FOLDER, f"profd-{name}.log"))


def has_probes(server, library="libcuda.so"):
    return any(library in path for path in uprobe_paths(server))


def query(server, what, name=None):
    answer = server.get(what)
    if answer.status != 200:
        raise AssertionError(f"{what}: {answer.status} {answer.text[:300]}")
    if name:
        keep(name, answer.body)
    return answer


def asked(kind, pid):
    """Everything recorded of a process: memory is what it is now, and calls are those of the longest time that profd keeps."""
    return f"type={kind}&pid={pid}" + ("" if kind in MEMORY else "&last=9m")


def snap(server, pid, kinds):
    return {kind: Sums(server.profile(asked(kind, pid))) for kind in kinds}


def total(sums, value, where):
    return sums.profile.total(sums.values.index(value), where)


class Change:
    """What the commands changed, as profd has it; `said` is what the program reports of each."""

    def __init__(self, server, program, kinds, *commands, settle=0.3):
        self.program = program
        self.before = snap(server, program.pid, kinds)
        self.said = [program.tell(*(command if isinstance(command, tuple) else (command,))) for command in commands]
        time.sleep(settle)
        self.after = snap(server, program.pid, kinds)

    def grown(self, kind, value, where=lambda sample: True):
        return total(self.after[kind], value, where) - total(self.before[kind], value, where)

    def _has_line(self, sums, sample, mark):
        line = self.program.lines[mark]
        return any(f.file == self.program.script and f.line == line for f in python_frames(sums.profile, sample))

    def at(self, kind, value, mark):
        """What came to the marked line of the program."""
        before, after = (total(sums, value, lambda sample, sums=sums: self._has_line(sums, sample, mark))
                         for sums in (self.before[kind], self.after[kind]))
        return after - before

    def by(self, kind, value, label):
        before, after = (sums[kind].by(value, label) for sums in (self.before, self.after))
        return {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)}

    def elsewhere(self, kind, value, mark):
        """The stacks of what did not come to the line: the innermost frames of some."""
        index = self.after[kind].values.index(value)
        stacks = collections.Counter()
        for sign, sums in ((1, self.after[kind]), (-1, self.before[kind])):
            for s in sums.profile.samples:
                if not self._has_line(sums, s, mark):
                    text = " < ".join(name[:70] for name in s.names[:7])
                    stacks[f"{text} ... {len(s.names)} frames, root {s.names[-1:]}"] += sign * s.values[index]
        return {k: v for k, v in stacks.most_common(4) if v}


def complete(server, program, kind, least=95.0):
    """Judges the share of whole stacks."""
    comments = server.profile(asked(kind, program.pid)).comments
    line = next((c for c in comments if c.startswith("stacks complete")), "no such comment")
    found = re.search(r"complete ([\d.]+) %", line)
    refused = server.metrics().get("profd_unwind_processes_refused_total")
    judge(f"{program.label}-{kind}-complete", bool(found) and float(found[1]) >= least, f"{line}; processes refused {refused}")


def launches(server, program, command, mark, count, kernel=None):
    """Judges the launches of one command: those at its line, and the name of the kernel. Returns name -> number."""
    change = Change(server, program, ("gpu_launch",), command)
    found, everything = change.at("gpu_launch", "launches", mark), change.grown("gpu_launch", "launches")
    names = change.by("gpu_launch", "launches", "kernel")
    shown = {k[:90]: v for k, v in sorted(names.items(), key=lambda row: -row[1])[:4]}
    label = f"{program.label}-{mark}"
    well = compare(f"{label}-at-line", found, count, more=f"of {everything} in all; by kernel {shown}")
    if not well or everything != found:
        say("   elsewhere", change.elsewhere("gpu_launch", "launches", mark))
    if kernel:
        compare(f"{label}-kernel-name", sum(v for k, v in names.items() if kernel in k), count)
    return names


def keep_profiles(server, program, kinds):
    """Keeps the program's profiles and its mappings, where a folder for them is given."""
    if not KEPT:
        return
    with contextlib.suppress(OSError):
        shutil.copy(f"/proc/{program.pid}/maps", os.path.join(FOLDER, f"{program.label}-maps.txt"))
    for kind in kinds:
        base = f"/profile?{asked(kind, program.pid)}"
        with contextlib.suppress(AssertionError):
            query(server, base + "&format=text&by=line", f"{program.label}-{kind}.txt")
            query(server, base + "&format=folded", f"{program.label}-{kind}.folded")
            query(server, base, f"{program.label}-{kind}.pb.gz")
