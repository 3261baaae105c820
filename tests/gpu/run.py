#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares profd with NVIDIA's own figures, on a machine with a GPU. Needs root.

A program allocates memory with calls of the driver. The memory in use according to profd is within a percent of NVML's
figure for the process, less the memory that its context took before.
"""

import ctypes
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "system"))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from gpu_runs import GpuProgram, sums_of, until  # noqa: E402
from heap_runs import uprobe_paths  # noqa: E402

TOLERANCE = 0.01


def missing():
    """The reason why the test cannot run here, or None."""
    try:
        cuda, nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        return f"no GPU on this machine: {error}"
    result = cuda.cuInit(0)
    if result:
        return f"no GPU on this machine: cuInit() gave {result}"
    result = nvml.nvmlInit_v2()
    if result:
        return f"no GPU on this machine: nvmlInit() gave {result}"
    if os.geteuid() != 0:
        return "test-gpu needs root: sudo make test-gpu"
    if not os.access(daemon.PROFD, os.X_OK):
        return f"{daemon.PROFD} is missing: make build"
    return None


def near(found, truth):
    return abs(found - truth) <= TOLERANCE * max(truth, 1)


def compare(server):
    """Prints a line for each step. Returns the number of failed steps."""
    failed = 0
    with GpuProgram(sys.executable, os.path.join(HERE, "allocates.py"), LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", "")) as program:
        if not until(lambda: any("libcuda.so" in path for path in uprobe_paths(server)), 60):
            print(f"FAILED: the driver is not probed: {server.log()}")
            return 1
        for command in ("more", "launch", "less", "more", "less"):
            said = program.tell(command)
            sums = sums_of(server, program, "gpu_memory")
            in_use = sums.sum("inuse_space")
            well = in_use == said["held"] and near(in_use, said["nvml"])
            failed += not well
            print(f"{'ok' if well else 'FAILED'} {command}: in use {in_use}, held {said['held']}, "
                  f"NVML's of the {said['whose']} {said['nvml']}, at large() {sums.sum('inuse_space', 'large')}")
        program.process.kill()
        program.process.wait()
        gone = until(lambda: not sums_of(server, program, "gpu_memory").sum("inuse_space"), 10)
        failed += not gone
        print("ok killed" if gone else "FAILED killed: it still has memory in use")
    return failed


def main():
    why = missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    with daemon.Daemon() as server:
        failed = compare(server)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
