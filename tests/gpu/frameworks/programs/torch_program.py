# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""PyTorch on the first GPU. Truth: each command launches, copies, waits and makes tensors so many times as it says, at the line with
its mark; gpu_launch, gpu_copy, gpu_wait, gpu_memory and gpu_tensor must have these numbers there. The CPU time of `train` is in train(),
step() and forward(), and `work` measures with CUDA's events how long the kernels of heavy() and light() run on the GPU.
"""

import threading
import time

import torch
from commands import MIB, serve

DEVICE = "cuda"
N = 4096
left = torch.randn(N, N, device=DEVICE, dtype=torch.bfloat16)
right = torch.randn(N, N, device=DEVICE, dtype=torch.bfloat16)
out = torch.empty_like(left)
big = torch.zeros(64 * MIB, device=DEVICE)  # 256 MiB
small = torch.zeros(8, device=DEVICE)
pinned = torch.zeros(8 * MIB, dtype=torch.uint8).pin_memory()
pageable = torch.zeros(2 * MIB, dtype=torch.uint8)
buffer = torch.zeros(8 * MIB, dtype=torch.uint8, device=DEVICE)
other = torch.zeros(8 * MIB, dtype=torch.uint8, device=DEVICE)
kept = []
made = {}


def sync():
    torch.cuda.synchronize()  # -> sync


def heavy(times=300):
    for _ in range(times):
        torch.mm(left, right, out=out)  # -> heavy


def light(times=100):
    for _ in range(times):
        big.add_(1)  # -> light


def tiny(times=100):
    for _ in range(times):
        small.add_(1)  # -> tiny


def launching(function):
    def command(times):
        function(times)
        sync()
        return {"launches": times}
    return command


def memory():
    return {"allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}


def keep():
    for _ in range(4):
        kept.append(torch.empty(64 * MIB, dtype=torch.uint8, device=DEVICE))  # -> keep
    return {"bytes": 256 * MIB, **memory()}


def drop():
    for _ in range(4):
        gone = torch.empty(32 * MIB, dtype=torch.uint8, device=DEVICE)  # -> drop
        del gone
    return {"bytes": 128 * MIB, **memory()}


def forget():
    kept.clear()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return memory()


def copy_in():
    for _ in range(10):
        buffer.copy_(pinned, non_blocking=True)  # -> copy_in


def copy_out():
    for _ in range(5):
        pinned.copy_(buffer, non_blocking=True)  # -> copy_out


def copy_pageable():
    for _ in range(3):
        pageable.copy_(buffer[:2 * MIB])  # -> copy_pageable


def copy_device():
    for _ in range(7):
        other.copy_(buffer)  # -> copy_device


def copying(function, count, size, direction):
    def command():
        function()
        sync()
        return {"truth": [count, size, direction]}
    return command


def copies():
    copy_in()
    copy_out()
    copy_pageable()
    copy_device()
    sync()
    return {"truth": {"HtoD": 80 * MIB, "DtoH": 46 * MIB, "DtoD": 56 * MIB}}


def waits():
    lasted = 0
    for _ in range(5):
        heavy(100)
        began = time.perf_counter_ns()
        torch.cuda.synchronize()  # -> waits
        lasted += time.perf_counter_ns() - began
    return {"waits": 5, "lasted": lasted}


def replay(times=50):
    if "graph" not in made:
        made["graph"] = torch.cuda.CUDAGraph()
        tiny(20)
        sync()
        with torch.cuda.graph(made["graph"]):
            tiny(20)
    for _ in range(times):
        made["graph"].replay()  # -> replay
    sync()
    return {"replays": times, "kernels_each": 20}


def thread_a(times):
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(times):
            small.add_(1)  # -> thread_a


def thread_b(times):
    for _ in range(times):
        big.add_(1)  # -> thread_b


def threads(times=500):
    made["threads"] = [threading.Thread(target=f, args=(n,)) for f, n in ((thread_a, times), (thread_b, times // 2))]
    for t in made["threads"]:
        t.start()
    for t in made["threads"]:
        t.join()
    sync()
    return {"a": times, "b": times // 2}


def oom():
    try:
        torch.empty(300 << 30, dtype=torch.uint8, device=DEVICE)  # -> oom
    except torch.cuda.OutOfMemoryError as error:
        return {"refused": str(error)[:80]}
    return {"refused": ""}


def forward(x):
    x = torch.relu(x @ made["first"])  # -> forward
    return torch.relu(x @ made["second"]).sum(dim=1)


def step(x):
    loss = (forward(x) - 1).square().mean()
    loss.backward()  # -> backward
    with torch.no_grad():
        for name in ("first", "second"):
            made[name] -= 1e-4 * made[name].grad
            made[name].grad = None
    return loss


def train(seconds=4):
    if "first" not in made:
        made["first"] = (torch.randn(512, 2048, device=DEVICE) / 50).requires_grad_()
        made["second"] = (torch.randn(2048, 512, device=DEVICE) / 50).requires_grad_()
    end, steps, cpu = time.monotonic() + seconds, 0, time.process_time()
    x = torch.randn(256, 512, device=DEVICE)
    while time.monotonic() < end:
        loss = step(x)
        steps += 1
        if steps % 10 == 0:
            loss.item()
    return {"steps": steps, "cpu": time.process_time() - cpu}


def spin(times=20000):
    """Nanoseconds a launch, of five rounds."""
    rounds = []
    for _ in range(5):
        sync()
        began = time.perf_counter_ns()
        for _ in range(times):
            small.add_(1)  # -> spin
        rounds.append((time.perf_counter_ns() - began) / times)
        sync()
    return {"ns": rounds}


def work(seconds=5):
    """GPU milliseconds of heavy() and light() by events."""
    said = {"heavy_ms": 0.0, "light_ms": 0.0, "heavy": 0, "light": 0}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        marks[0].record()
        heavy(30)
        marks[1].record()
        light(20)
        marks[2].record()
        sync()
        said["heavy_ms"] += marks[0].elapsed_time(marks[1])
        said["light_ms"] += marks[1].elapsed_time(marks[2])
        said["heavy"] += 30
        said["light"] += 20
    return said


def count():
    """Kernels by torch.profiler: function -> name -> [number, microseconds]."""
    from torch.profiler import ProfilerActivity, profile  # it loads CUPTI

    found = {}
    for function, times in ((heavy, 20), (light, 20), (tiny, 20)):
        sync()
        with profile(activities=[ProfilerActivity.CUDA]) as prof:
            function(times)
            sync()
        rows = found.setdefault(function.__name__, {})
        for event in prof.events():
            if "CUDA" in str(event.device_type):
                row = rows.setdefault(event.name, [0, 0.0])
                row[0] += 1
                row[1] += event.time_range.elapsed_us()
    return {"times": 20, "kernels": found}


heavy(3)
light(3)
tiny(3)
sync()
serve({"heavy": launching(heavy), "light": launching(light), "tiny": launching(tiny), "keep": keep, "drop": drop, "forget": forget,
       "copies": copies, "waits": waits, "replay": replay, "oom": oom, "threads": threads, "train": train, "spin": spin, "work": work,
       "count": count, "memory": memory, "copy_in": copying(copy_in, 10, 80 * MIB, "HtoD"),
       "copy_out": copying(copy_out, 5, 40 * MIB, "DtoH"), "copy_pageable": copying(copy_pageable, 3, 6 * MIB, "DtoH"),
       "copy_device": copying(copy_device, 7, 56 * MIB, "DtoD")})
