# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Allocates memory of the first GPU with calls of the driver. Prints the amount, and NVML's figure for this process.

Reads commands, one a line: `more` allocates blocks of several sizes, from three functions; `less` frees every second
block; `launch` sets all blocks, and waits. Prints a line of JSON after each command.
"""

import ctypes
import json
import os
import sys

MIB = 1 << 20
NOT_AVAILABLE = 2**64 - 1

cuda = ctypes.CDLL("libcuda.so.1")
nvml = ctypes.CDLL("libnvidia-ml.so.1")
cuda.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
cuda.cuMemFree_v2.argtypes = [ctypes.c_uint64]
cuda.cuMemsetD8_v2.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
cuda.cuCtxSetCurrent.argtypes = [ctypes.c_void_p]


class ProcessInfo(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def must(result):
    if result:
        raise RuntimeError(f"a call gave {result}")


def nvml_bytes(device):
    """NVML's figure for this process or, where NVML has none, for the device."""
    count, rows = ctypes.c_uint(64), (ProcessInfo * 64)()
    if nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(count), rows) == 0:
        for row in rows[:count.value]:
            if row.pid == os.getpid() and row.used != NOT_AVAILABLE:
                return "process", row.used
    memory = Memory()
    must(nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)))
    return "device", memory.used


kept = []


def take(size):
    at = ctypes.c_uint64()
    must(cuda.cuMemAlloc_v2(ctypes.byref(at), size))
    kept.append((at.value, size))


def large():
    for _ in range(6):
        take(128 * MIB)


def medium():
    for _ in range(6):
        take(64 * MIB)


def small():
    for _ in range(64):
        take(2 * MIB)


def more():
    large()
    medium()
    small()


def less():
    for nth in range(len(kept) // 2):
        must(cuda.cuMemFree_v2(kept.pop(nth)[0]))


def launch():
    for at, size in kept:
        must(cuda.cuMemsetD8_v2(at, 0, size))
    must(cuda.cuCtxSynchronize())


def main():
    context, device = ctypes.c_void_p(), ctypes.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(nvml.nvmlInit_v2())
    must(nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)))
    # The context has its final size only after the first allocation and the first kernel.
    take(2 * MIB)
    launch()
    less_than_all = kept.pop()
    must(cuda.cuMemFree_v2(less_than_all[0]))
    whose, context_bytes = nvml_bytes(device)
    print("ready", flush=True)
    for line in sys.stdin:
        {"more": more, "less": less, "launch": launch}[line.strip()]()
        said = {"held": sum(size for _, size in kept), "whose": whose, "nvml": nvml_bytes(device)[1] - context_bytes}
        print(json.dumps(said), flush=True)


main()
