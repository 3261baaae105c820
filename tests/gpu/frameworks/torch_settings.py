# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""PyTorch with other settings: another user, its other allocators, several threads, and a program that is killed."""

import os
import signal
import time

from checking import MIB, compare, judge, say
from gpu_runs import until
from profiles import MEMORY, Change, complete, keep_profiles, launches, snap, total
from warm_up import warm_up

EXPANDABLE = "expandable_segments:True"
ASYNC = "backend:cudaMallocAsync"


def of_allocator(setting):
    """The environment that sets it: newer versions have another name."""
    return {"PYTORCH_CUDA_ALLOC_CONF": setting, "PYTORCH_ALLOC_CONF": setting}


def device_known(server, program):
    program.ready()
    program.tell("keep")
    devices = snap(server, program.pid, ("gpu_memory",))["gpu_memory"].by("inuse_space", "device")
    judge(f"{program.label}-device-known", devices and set(devices) <= {"0", "cpu"}, f"{devices}")
    warm_up(server, 6)


def other_user(server, program):
    program.ready()
    launches(server, program, ("tiny", 200), "tiny", 200)
    change = Change(server, program, MEMORY, "keep")
    for kind in MEMORY:
        compare(f"{program.label}-keep-{kind}", change.at(kind, "inuse_space", "keep"), 256 * MIB)
    complete(server, program, "gpu_memory", 80)


def expandable(server, program):
    """The allocator makes physical memory, and maps it into one range of addresses."""
    def physical():
        sums = snap(server, program.pid, ("gpu_memory",))["gpu_memory"]
        return total(sums, "inuse_space", lambda s: s.labels.get("memory") == "physical"), sums.by("inuse_space", "memory")

    program.ready()
    before = program.tell("memory")
    change = Change(server, program, MEMORY, "keep")
    reserved = change.said[0]["reserved"] - before["reserved"]
    compare("expandable-keep", change.grown("gpu_memory", "inuse_space"), reserved,
            more=f"by kind {change.by('gpu_memory', 'inuse_space', 'memory')} device {change.by('gpu_memory', 'inuse_space', 'device')}")
    compare("expandable-keep-at-line", change.at("gpu_memory", "inuse_space", "keep"), reserved)
    compare("expandable-keep-tensor", change.at("gpu_tensor", "inuse_space", "keep"), 256 * MIB)
    found, kinds = physical()
    compare("expandable-reserved", found, change.said[0]["reserved"], more=f"{kinds}")
    said = program.tell("forget")
    time.sleep(0.4)
    compare("expandable-forget", physical()[0], said["reserved"])
    complete(server, program, "gpu_memory", 80)
    keep_profiles(server, program, MEMORY)


def from_pool(server, program):
    """Each tensor is an allocation from CUDA's pool; PyTorch reports none of them as a tensor."""
    program.ready()
    change = Change(server, program, MEMORY, "keep")
    compare("async-keep", change.at("gpu_memory", "inuse_space", "keep"), 256 * MIB,
            more=f"{change.by('gpu_memory', 'inuse_space', 'memory')} {change.by('gpu_memory', 'inuse_space', 'call')}")
    say("   gpu_tensor of it", change.grown("gpu_tensor", "inuse_space"))
    sums = snap(server, program.pid, ("gpu_memory",))["gpu_memory"]
    compare("async-pool", total(sums, "inuse_space", lambda s: s.labels.get("memory") == "pool"), change.said[0]["allocated"],
            more=f"{sums.by('inuse_space', 'memory')}")
    change = Change(server, program, MEMORY, "forget")
    compare("async-forget", change.grown("gpu_memory", "inuse_space"), -256 * MIB)


def threads(server, program):
    program.tell("threads", 200)
    warm_up(server, 6)
    change = Change(server, program, ("gpu_launch",), ("threads", 500))
    for mark, count in (("thread_a", 500), ("thread_b", 250)):
        found, everything = change.at("gpu_launch", "launches", mark), change.grown("gpu_launch", "launches")
        if not compare(f"threads-{mark}", found, count, more=f"in all {everything}"):
            say("   elsewhere", change.elsewhere("gpu_launch", "launches", mark))


def killed(server, program):
    program.begin("spin", 20000)
    time.sleep(0.3)
    os.kill(program.pid, signal.SIGKILL)
    began = time.monotonic()
    gone = until(lambda: not snap(server, program.pid, ("gpu_memory",))["gpu_memory"].sum("inuse_space"), 8)
    judge("killed-holds-nothing", gone, f"after {time.monotonic() - began:.1f} s")
