# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""CuPy on the first GPU. Truth: each command launches its kernel so many times, at the line with its mark; gpu_launch must have that number
there, and the kernel's name. `keep` makes CuPy's pool allocate 256 MiB at its line, and `forget` gives them back.
"""

import time

import cupy
from commands import MIB, serve

scale = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * 2 + 1", "profd_elementwise")
raw = cupy.RawKernel("""extern "C" __global__ void profd_raw(float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }""", "profd_raw")
x = cupy.ones(MIB, dtype=cupy.float32)
y = cupy.empty_like(x)
kept = []
pool = cupy.get_default_memory_pool()


def sync():
    cupy.cuda.Device().synchronize()  # -> sync


def elementwise(times=200):
    for _ in range(times):
        scale(x, y)  # -> elementwise
    sync()
    return {"launches": times, "kernel": "profd_elementwise"}


def raw_kernel(times=150):
    for _ in range(times):
        raw((MIB // 256,), (256,), (x, cupy.int32(MIB)))  # -> raw_kernel
    sync()
    return {"launches": times, "kernel": "profd_raw"}


def adds(times=50):
    for _ in range(times):
        cupy.add(x, x, out=y)  # -> adds
    sync()
    return {"launches": times, "kernel": "cupy_add"}


def keep():
    for _ in range(4):
        kept.append(cupy.empty(64 * MIB, dtype=cupy.uint8))  # -> keep
    return {"bytes": 256 * MIB, "pool": pool.total_bytes()}


def spin(times=20000):
    rounds = []
    for _ in range(5):
        sync()
        began = time.perf_counter_ns()
        for _ in range(times):
            raw((1,), (32,), (x, cupy.int32(32)))
        rounds.append((time.perf_counter_ns() - began) / times)
        sync()
    return {"ns": rounds}


def forget():
    kept.clear()
    pool.free_all_blocks()
    return {"pool": pool.total_bytes()}


elementwise(3)
raw_kernel(3)
adds(3)
serve({"elementwise": elementwise, "raw_kernel": raw_kernel, "adds": adds, "keep": keep, "forget": forget, "spin": spin})
