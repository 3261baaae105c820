# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""When the parts of the kernel half are loaded: at the start the programs for samples of CPU time, right afterwards those for
late ticks and growth, and the others at their first use. bpftool lists what a daemon has loaded.
"""

import contextlib
import glob
import json
import os
import re
import subprocess
import unittest

import daemon
from gpu_runs import DRIVER, GpuProgram, wait_probed
from heap_runs import HeapRequest, HeapWorkload, uprobe_paths, until

LIBRARY = os.path.join(daemon.BUILD, "libprofd-heap.so")

# Ends of lines of /proc/PID/maps: CUDA's driver, PyTorch, and files with static probes.
NEED_MORE = r"/(libcuda\.so\..*|libc10\.so|libprofd-heap\.so|libprofd-cuda\.so|tells|other)$"

CORE = {"cpu_sample", "process_exec", "process_exit", "oom_mark_victim"}
LATE = {"cpu_switch", "resident_taken", "threads_ran"}
HEAP = {"heap_session", "heap_entry", "heap_return", "heap_return_instruction", "heap_count", "heap_exec"}
HEAP_TOLD = {"heap_usdt_alloc", "heap_usdt_free"}
GPU = {"gpu_session", "gpu_entry", "gpu_return"}
GPU_TOLD = {"gpu_launched", "gpu_ran"}


def loaded(server, kind):
    """Returns the names of the daemon's programs or maps, with the IDs of each."""
    listed = json.loads(subprocess.run(["bpftool", "-j", kind, "list"], check=True, capture_output=True).stdout)
    own, names = server.bpf_ids()[kind], {}
    for entry in listed:
        if entry["id"] in own:
            names.setdefault(entry.get("name"), set()).add(entry["id"])
    return names


def others_need_more():
    """Whether a process of this host has a file mapped for which a part is loaded."""
    for maps in glob.glob("/proc/[0-9]*/maps"):
        with contextlib.suppress(OSError), open(maps, encoding="utf-8", errors="replace") as file:
            if re.search(NEED_MORE, file.read(), re.M):
                return True
    return False


def programs(server):
    return set(loaded(server, "prog"))


def others(maps):
    """Returns the maps that only the parts for heaps and GPUs have."""
    return {name for name in maps if name.startswith(("heap_", "gpu_", "static_sites"))}


class Start(unittest.TestCase):
    def test_what_a_start_loads(self):
        self.assertTrue(until(lambda: not others_need_more(), 120), "something needs more")
        with daemon.Daemon() as server:
            until(lambda: LATE <= programs(server))
            self.assertEqual(programs(server), CORE | LATE)
            self.assertEqual(others(loaded(server, "map")), set())
            self.assertGreater(server.json("/status")["maps"]["bytes"], 0)


class Later(unittest.TestCase):
    """Parts that are loaded later, each test with its own daemon."""

    def setUp(self):
        self.server = daemon.Daemon()
        self.addCleanup(self.server.stop)

    def size(self):
        return self.server.json("/status")["maps"]["bytes"]

    def memlock(self):
        """Returns the size of all maps as bpftool has it."""
        listed = json.loads(subprocess.run(["bpftool", "-j", "map", "list"], check=True, capture_output=True).stdout)
        own = self.server.bpf_ids()["map"]
        return sum(entry["bytes_memlock"] for entry in listed if entry["id"] in own)

    def test_a_heap(self):
        """The first heap profile loads its part, and the next one loads nothing more."""
        with HeapWorkload("sites") as workload:
            self.assertFalse(programs(self.server) & HEAP)
            before = self.size()
            self.assertGreater(HeapRequest(self.server, f"pid={workload.pid}&seconds=1&force=1").heap().total(), 0)
            self.assertLessEqual(HEAP, programs(self.server))
            self.assertGreater(self.size(), before)
            ids = self.server.bpf_ids()["prog"], self.server.lasting_maps()
            HeapRequest(self.server, f"pid={workload.pid}&seconds=1&force=1").heap()
            self.assertEqual((self.server.bpf_ids()["prog"], self.server.lasting_maps()), ids)

    def test_a_program_that_samples_its_own_allocations(self):
        self.assertFalse(programs(self.server) & HEAP_TOLD)
        with HeapWorkload("sites", preload=LIBRARY):
            self.assertTrue(until(lambda: any(link.endswith("libprofd-heap.so") for link in uprobe_paths(self.server))))
            self.assertLessEqual(HEAP_TOLD, programs(self.server))
            self.assertFalse(programs(self.server) & GPU_TOLD)

    def test_a_gpu(self):
        with GpuProgram("gpu_truth", "driver"):
            wait_probed(self.server, DRIVER)
            self.assertLessEqual(GPU, programs(self.server))

    def test_parts_share_their_maps(self):
        """Whatever is loaded, in any order, there is one map of each name, and /status counts it once."""
        with HeapWorkload("sites", preload=LIBRARY) as workload, GpuProgram("gpu_truth", "driver"):
            self.assertTrue(until(lambda: HEAP_TOLD <= programs(self.server)))
            HeapRequest(self.server, f"pid={workload.pid}&seconds=1&force=1").heap()
            wait_probed(self.server, DRIVER)
            self.assertLessEqual(CORE | LATE | HEAP | HEAP_TOLD | GPU, programs(self.server))
            maps = self.server.lasting_maps()
            twice = {name for name, ids in maps.items() if len(ids) > 1 and not name.endswith(".rodata")}
            self.assertEqual(twice, set())
            self.assertEqual(self.size(), self.memlock())


if __name__ == "__main__":
    unittest.main()
