# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: allocations, launches and waits by ctypes, each from a line that ends in a comment `# -> NAME`. Reports
by name: number and bytes allocated, number and bytes held; launches; nanoseconds of waits, measured inside the
calls and by the caller. As with the C programs, each line of input is a command: `allocate`, `launch` or `wait`.
"""

import collections
import ctypes
import json
import sys
import time

cuda = ctypes.CDLL("libcuda.so.1")
cuda.fakecuda_waited_ns.restype = ctypes.c_uint64
cuda.fakecuda_waits_take.argtypes = [ctypes.c_uint64, ctypes.c_int]
cuda.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
cuda.cuMemFree_v2.argtypes = [ctypes.c_uint64]
cuda.cuCtxSetCurrent.argtypes = [ctypes.c_void_p]
cuda.cuModuleGetFunction.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
cuda.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3

memory = collections.defaultdict(lambda: [0, 0, 0, 0])
launches = collections.Counter()
waits = collections.Counter()
kept = []


def must(result):
    if result:
        raise RuntimeError(f"a call that cannot fail gave {result}")


def take(name, size):
    at = ctypes.c_uint64()
    time.sleep(0.003)  # profd does not take the stack of every allocation above a few hundred a second
    must(cuda.cuMemAlloc_v2(ctypes.byref(at), size))  # in take
    for i, more in enumerate((1, size, 1, size)):
        memory[name][i] += more
    kept.append((name, at.value, size))


def give(nth):
    name, at, size = kept.pop(nth)
    must(cuda.cuMemFree_v2(at))
    memory[name][2] -= 1
    memory[name][3] -= size


def weights(count):
    for i in range(count):
        take("weights", 6000 + i)  # -> weights


def activations(count):
    for i in range(count):
        take("activations", 3000 + i)  # -> activations


def gradients(count):
    for i in range(count):
        take("gradients", 1000 + i)  # -> gradients


class Trainer:
    def allocate(self):
        weights(50)
        activations(50)
        gradients(50)
        for nth in range(70):
            give(nth)

    def launch(self, function):
        for _ in range(40):
            must(cuda.cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, None, None, None))  # -> launch
        launches["triton_relu"] += 40

    def wait(self):
        cuda.fakecuda_waits_take(30 * 1000 * 1000, 0)
        before, began = cuda.fakecuda_waited_ns(), time.monotonic_ns()
        for _ in range(10):
            must(cuda.cuCtxSynchronize())  # -> wait
        waits["lasts"] += time.monotonic_ns() - began
        waits["wait"] += cuda.fakecuda_waited_ns() - before


def main():
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), b"image"))
    trainer = Trainer()
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "allocate\n":
            trainer.allocate()
        elif line == "launch\n":
            if not function:
                must(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"triton_relu"))
            trainer.launch(function)
        elif line == "wait\n":
            trainer.wait()
        print(json.dumps({"memory": memory, "launches": launches, "waits": waits}), flush=True)


main()
