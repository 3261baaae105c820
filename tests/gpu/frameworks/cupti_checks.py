# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs with libprofd-cuda.so: the number and the time of kernels beside what CUDA's events say of them."""

import time

from checking import compare, judge, say
from gpu_runs import until
from profiles import Change, keep_profiles
from warm_up import warm_up

SECONDS = 6  # PROFD_CUDA_SECONDS of the program that records for a while only


def told(server):
    """The number of kernels of which the helper has told the daemon."""
    return server.metrics().get("profd_gpu_told_kernels_total", 0)


def kernel_times(server, program):
    def again():
        program.tell("work", 1)
        return told(server) > 0
    judge(f"{program.label}-tells", until(again, 15), f"told kernels {told(server)}; the program's stderr: {program.errors()[-500:]!r}")
    warm_up(server, 10)
    program.tell("work", 1)
    change = Change(server, program, ("gpu_kernel", "gpu_launch"), ("work", 6), settle=2)
    keep_profiles(server, program, ("gpu_kernel",))
    said = change.said[0]
    for mark in ("heavy", "light"):
        compare(f"{program.label}-{mark}-kernels", change.at("gpu_kernel", "kernels", mark), said[mark], 0.15)
        compare(f"{program.label}-{mark}-ms", round(change.at("gpu_kernel", "gpu_time", mark) / 1e6, 1), round(said[f"{mark}_ms"], 1), 0.15)
    whole = change.grown("gpu_kernel", "gpu_time")
    compare(f"{program.label}-all-ms", round(whole / 1e6, 1), round(said["heavy_ms"] + said["light_ms"], 1), 0.1)
    say("   by kernel", {k[:90]: v for k, v in change.by("gpu_kernel", "gpu_time", "kernel").items()})
    say("   elsewhere", change.elsewhere("gpu_kernel", "gpu_time", "heavy"))
    compare(f"{program.label}-launches-beside", change.grown("gpu_launch", "launches"), said["heavy"] + said["light"], 0.01)


def graphs_and_storms(server, program):
    """Graphs and small kernels, and what happens beside torch.profiler, which also wants CUPTI."""
    program.ready()
    program.tell("work", 1)
    until(lambda: program.tell("work", 1) and told(server) > 0, 10)
    program.tell("replay", 100)
    change = Change(server, program, ("gpu_kernel", "gpu_launch"), ("replay", 3000), settle=1.5)
    compare("helper-graph", change.at("gpu_kernel", "kernels", "replay"), 60000, 0.3,
            more=f"by kernel {change.by('gpu_kernel', 'kernels', 'kernel')} ms {change.grown('gpu_kernel', 'gpu_time') / 1e6:.1f}; "
            f"launches {change.grown('gpu_launch', 'launches')}; elsewhere {change.elsewhere('gpu_kernel', 'kernels', 'replay')}")
    change = Change(server, program, ("gpu_kernel",), ("tiny", 20000), settle=1.5)
    compare("helper-tiny", change.at("gpu_kernel", "kernels", "tiny"), 20000, 0.15,
            more=f"us a kernel {change.grown('gpu_kernel', 'gpu_time') / 1e3 / 20000:.2f}")
    try:
        said = program.tell("count", seconds=30)
        say("   torch.profiler beside the helper:", {k: {n[:40]: v for n, v in rows.items()} for k, rows in said["kernels"].items()})
    except RuntimeError as error:
        say("   torch.profiler beside the helper:", str(error)[-400:])
    before = told(server)
    program.tell("work", 2)
    time.sleep(1.5)
    judge("helper-after-torch-profiler", told(server) > before, f"{before} {told(server)}; stderr {program.errors()[-900:]!r}")
    keep_profiles(server, program, ("gpu_kernel",))


def seconds_only(server, program):
    """The helper of a program with PROFD_CUDA_SECONDS=SECONDS tells of kernels for that time, and then of none."""
    before = told(server)
    program.ready()
    began = time.monotonic()
    program.tell("work", 1)
    time.sleep(1)
    middle = told(server)
    time.sleep(max(0, began + SECONDS + 1.5 - time.monotonic()))
    program.tell("work", 1)
    time.sleep(1)
    last = told(server)
    program.tell("work", 1)
    time.sleep(1)
    judge("helper-seconds", middle > before and told(server) == last,
          f"{before} {middle} {last} {told(server)}; stderr {program.errors()[-300:]!r}")


def jax_kernels(server, program):
    program.ready()
    program.tell("calls", 50)
    time.sleep(1)
    change = Change(server, program, ("gpu_kernel", "gpu_launch"), ("calls", 400), settle=2)
    times = {k[:60]: round(v / 1e6, 1) for k, v in change.by("gpu_kernel", "gpu_time", "kernel").items()}
    compare("helper-jax", change.grown("gpu_kernel", "kernels"), change.grown("gpu_launch", "launches") or None, 0.2,
            more=f"ms by kernel {times}; at the line {change.at('gpu_kernel', 'kernels', 'calls')}; stderr {program.errors()[-500:]!r}")
    keep_profiles(server, program, ("gpu_kernel", "gpu_launch"))
