#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A real PyTorch under the daemon: tensors of the CPU, by the Python line that made them. `make test-torch`.

The test uses the wheel for GPUs, with stubs of the GPU libraries (stubs.py): the allocator of the CPU reports its tensors
by the same functions as that of GPUs. It proves what a stand-in cannot: that the real library has these functions and calls
them in the expected way, and that stacks lead through the library to the Python line.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from gpu_runs import CUDA, GpuProgram, sums_of, until  # noqa: E402
from heap_runs import uprobe_paths  # noqa: E402
from python_truth import python_frames  # noqa: E402
from warm_up import warm_up  # noqa: E402

SCRIPT = os.path.join(HERE, "trains.py")
TORCH = os.path.join(daemon.BUILD, "torch")


def line_of(mark):
    with open(SCRIPT, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.endswith(f"# -> {mark}\n"))


def at_line(sums, value, mark):
    index, line = sums.values.index(value), line_of(mark)

    def has(sample):
        return any(frame.file == SCRIPT and frame.line == line for frame in python_frames(sums.profile, sample))
    return sums.profile.total(index, has)


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = daemon.Daemon()
        cls.addClassCleanup(cls.server.stop)
        cls.program = GpuProgram(sys.executable, SCRIPT, PYTHONPATH=f"{TORCH}/site", LD_LIBRARY_PATH=f"{TORCH}/stubs",
                                 STAND_IN_DRIVER=os.path.join(CUDA, "libcuda.so.1"))
        cls.addClassCleanup(cls.program.__exit__)
        found = until(lambda: any(path.endswith("/libc10.so") for path in uprobe_paths(cls.server)), 120)
        assert found, uprobe_paths(cls.server)
        # The libraries have half a gigabyte; building their unwind tables takes a while.
        for _ in range(20):
            before = cls.sums()
            cls.program.tell("train")
            warm_up(cls.server, 20)
            after = cls.sums()
            if cls.grown(before, after, "output") and after.sum("alloc_space") > before.sum("alloc_space"):
                break

    @classmethod
    def sums(cls):
        return sums_of(cls.server, cls.program, "gpu_tensor")

    @staticmethod
    def grown(before, after, mark, value="alloc_space"):
        return at_line(after, value, mark) - at_line(before, value, mark)

    def test_kept_tensors_are_exact(self):
        before, said = self.sums(), self.program.said
        for command in ("keep", "drop", "keep"):
            now, after = self.program.tell(command), self.sums()
            with self.subTest(command):
                self.assertEqual(self.grown(before, after, "keep", "inuse_space"), now["kept"] - said["kept"])
                self.assertEqual(self.grown(before, after, "keep", "inuse_objects"),
                                 now["kept_objects"] - said["kept_objects"])

    def test_layers_by_line(self):
        before, said = self.sums(), {**self.program.said["forward"]}
        now, after = self.program.tell("train")["forward"], self.sums()
        for mark in ("hidden", "output"):
            with self.subTest(mark):
                truth = now[mark] - said[mark]
                self.assertGreaterEqual(self.grown(before, after, mark), truth)
                self.assertLess(self.grown(before, after, mark), 2 * truth)
        self.assertGreater(self.grown(before, after, "backward"), 0)

    def test_training_holds_nothing(self):
        self.program.tell("train")
        before = self.sums().sum("inuse_space")
        self.program.tell("train", "train")
        self.assertLess(abs(self.sums().sum("inuse_space") - before), 2 << 20)

    def test_they_are_of_the_host(self):
        devices = self.sums().by("inuse_space", "device")
        self.assertEqual(list(devices), ["cpu"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
