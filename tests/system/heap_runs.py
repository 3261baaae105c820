# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the heap workloads under a daemon: reads what they report of themselves, and what /heap reports of them."""

import bisect
import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time

import daemon
from profile_pb import Profile
from workload import Workload

VALUES = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]


class Heap(Profile):
    """A decoded /heap answer, with sums of its VALUES."""

    def sum(self, value, function=None):
        """Returns the sum over the stacks that have the function, or over all."""
        index = VALUES.index(value)
        return self.total(index, lambda s: function is None or function in s.names)

    def comment(self, start):
        """Returns the rest of the comment that starts with the text, or None."""
        return next((c[len(start):] for c in self.comments if c.startswith(start)), None)

    @property
    def sampled(self):
        """The number of sampled allocations."""
        return int(self.comment("sampled=").split()[0])


class HeapWorkload(Workload):
    """heap_sites, or a variant of it, and the file that it writes its truth to."""

    def __init__(self, what, name="heap_sites", preload=None):
        handle, self.truth_path = tempfile.mkstemp(prefix="profd-heap-", dir=daemon.BUILD)
        os.close(handle)
        environment = {**os.environ, "LD_PRELOAD": preload} if preload else None
        super().__init__(name, what, self.truth_path, env=environment)

    def __exit__(self, *unused):
        super().__exit__(*unused)
        os.unlink(self.truth_path)

    def rows(self):
        """Returns (names of the sites, [[time, allocated, held, allocated, held ...]])."""
        with open(self.truth_path, encoding="ascii") as file:
            return _rows(file.read())

    def truth(self, profile, part=1):
        """Returns {site: (bytes allocated, growth of bytes held)} over the time of a profile, or over its first part."""
        with open(self.truth_path, encoding="ascii") as file:
            return truth_between(file.read(), profile.time_ns, profile.time_ns + profile.duration_ns * part)

    def peak(self, profile):
        """Returns the most bytes that were held at once, of those that the only site allocated in the time of a profile. The
        site frees all of its memory at once; until it does, memory from before the profile does not count.
        """
        _, rows = self.rows()
        end = profile.time_ns + profile.duration_ns
        before, _ = _at(rows, profile.time_ns)
        return max(min(held, allocated - before) for t, allocated, held in rows if profile.time_ns <= t <= end)


def _rows(text):
    """Returns what HeapWorkload.rows() does, from the text of such a file."""
    lines = text.splitlines(keepends=True)
    # The last row may be incomplete.
    return lines[0].split()[1:], [list(map(int, line.split())) for line in lines[1:] if line.endswith("\n")]


def truth_between(text, start_ns, end_ns):
    """Returns {site: (bytes allocated, growth of bytes held)} over an interval, from the text of a file of truth."""
    names, rows = _rows(text)
    grown = [b - a for a, b in zip(_at(rows, start_ns), _at(rows, end_ns))]
    return {name: (grown[2 * i], grown[2 * i + 1]) for i, name in enumerate(names)}


def _at(rows, time_ns):
    """Returns the columns at a time, interpolated between the rows before and after it."""
    after = min(max(bisect.bisect_left(rows, [time_ns]), 1), len(rows) - 1)
    (t0, *first), (t1, *second) = rows[after - 1], rows[after]
    part = min(max((time_ns - t0) / (t1 - t0), 0), 1)
    return [a + (b - a) * part for a, b in zip(first, second)]


class HeapRequest(threading.Thread):
    """A GET /heap in the background."""

    def __init__(self, server, query):
        super().__init__(daemon=True)
        self.server, self.query, self.answer = server, query, None
        self.start()

    def run(self):
        self.answer = self.server.get("/heap?" + self.query, timeout=120)

    def heap(self):
        """Returns the profile of the answer; any other answer is a failed test."""
        self.join()
        if self.answer is None or self.answer.status != 200:
            raise AssertionError(f"/heap?{self.query}: {self.answer and (self.answer.status, self.answer.text)}")
        return Heap(self.answer.body)


def heap_of(server, query):
    return HeapRequest(server, query).heap()


def _link_fields(server):
    """Yields the fields of fdinfo for each BPF link that a daemon holds."""
    for fd in os.listdir(f"/proc/{server.pid}/fdinfo"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{server.pid}/fdinfo/{fd}", encoding="ascii") as info:
            # A path may contain blanks, and " (deleted)" follows the path of a deleted file.
            fields = dict(re.findall(r"^(\w+):\s*(\S.*)$", info.read(), re.M))
            if "link_id" in fields:
                yield fields


def is_sampling(server):
    """Whether a heap profile has come to its sampling phase. Before that phase the daemon counts calls, and before the first
    profile it measures the cost of a hit by probes in itself.
    """
    listed = json.loads(subprocess.run(["bpftool", "-j", "prog", "list"], check=True, capture_output=True).stdout)
    names = {str(program["id"]): program.get("name") for program in listed}
    return any(names.get(fields.get("prog_id")) == "heap_entry" and not fields.get("path", "").endswith("/profd")
               for fields in _link_fields(server))


def links_of(server):
    """Returns the BPF links of a daemon that belong to heap profiles: those in files, and the one at exec. Links on probes in
    programs that report their own allocations and in GPU libraries are left out: they come and go with programs of the host.
    """
    own = re.compile(r"libprofd-(heap|cuda)\.so( |$)|/profd-tells-|/workloads/cuda/|/lib(cuda|cudart|c10)[-.]")
    return {int(fields["link_id"]) for fields in _link_fields(server)
            if not own.search(fields.get("path", "")) and ("path" in fields or fields.get("tp_name") == "sched_process_exec")}


def uprobe_paths(server):
    """Returns the files in which a daemon has probes."""
    return {fields["path"] for fields in _link_fields(server) if "path" in fields}


def until(condition, seconds=60):
    """Returns the condition's value as soon as it is true, or its last value when time is up."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)
