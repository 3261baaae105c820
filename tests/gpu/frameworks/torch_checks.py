# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""PyTorch with its default settings: memory, tensors, launches, copies, waits, CPU time and heap, by Python line."""

import collections
import re
import time

from checking import MIB, compare, judge, keep, say, step
from gpu_runs import until
from heap_runs import uprobe_paths
from profiles import CALLS, MEMORY, Change, has_probes, keep_profiles, launches, query, snap, total
from python_truth import python_frames
from warm_up import warm_up

COPIES = ("copy_in", "copy_out", "copy_pageable", "copy_device")


def warm(server, program):
    """Waits until all launches come to their Python line."""
    began = time.monotonic()
    for nth in range(12):
        program.tell("heavy", 20)
        program.tell("light", 20)
        program.tell("tiny", 20)
        program.tell("copies")
        program.tell("replay", 5)
        program.tell("waits")
        program.tell("drop")
        warm_up(server, 10)
        change = Change(server, program, ("gpu_launch",), ("tiny", 20))
        found = change.at("gpu_launch", "launches", "tiny")
        if found == 20 or time.monotonic() > began + 35:
            break
    judge(f"{program.label}-warm", found == 20, f"{nth + 1} rounds, {time.monotonic() - began:.1f} s; tiny at its line {found} of 20; "
          f"{change.elsewhere('gpu_launch', 'launches', 'tiny') if found != 20 else ''}")


def memory(server, program, whole):
    """`whole`: profd has seen the program from its start."""
    label = program.label
    program.tell("forget")
    change = Change(server, program, MEMORY, "keep")
    said = change.said[0]
    for kind in MEMORY:
        for value in ("alloc_space", "inuse_space"):
            found, more = change.at(kind, value, "keep"), f"in all {change.grown(kind, value)}"
            if not compare(f"{label}-keep-{kind}-{value}", found, said["bytes"], more=more):
                say("   elsewhere", change.elsewhere(kind, value, "keep"))
    if whole:
        devices = change.by("gpu_memory", "inuse_space", "device")
        judge(f"{label}-device-known", set(devices) == {"0"}, f"{devices} {change.by('gpu_tensor', 'inuse_space', 'device')}")
    change = Change(server, program, MEMORY, "drop")
    compare(f"{label}-drop-tensor-alloc", change.at("gpu_tensor", "alloc_space", "drop"), change.said[0]["bytes"])
    compare(f"{label}-drop-tensor-inuse", change.at("gpu_tensor", "inuse_space", "drop"), 0)
    if whole:
        whole_memory(server, program)
    change = Change(server, program, MEMORY, "forget")
    compare(f"{label}-forget-tensor", change.at("gpu_tensor", "inuse_space", "keep"), -said["bytes"])
    compare(f"{label}-forget-memory", change.at("gpu_memory", "inuse_space", "keep"), -said["bytes"])


def whole_memory(server, program):
    """Compares everything in use with what PyTorch's allocator says. Libraries of NVIDIA's allocate up to 600 MiB beside it."""
    now = program.tell("memory")
    sums = snap(server, program.pid, MEMORY)
    compare(f"{program.label}-tensor-is-memory_allocated",
            total(sums["gpu_tensor"], "inuse_space", lambda s: s.labels.get("device") != "cpu"), now["allocated"])
    device = total(sums["gpu_memory"], "inuse_space", lambda s: s.labels.get("memory") in (None, "device", "pool", "physical"))
    judge(f"{program.label}-memory-holds-memory_reserved", now["reserved"] <= device <= now["reserved"] + 600 * MIB,
          f"found {device}, reserved {now['reserved']}; by kind {sums['gpu_memory'].by('inuse_space', 'memory')}")


def calls(server, program, launched):
    """`launched`: function -> launches per call."""
    label = program.label
    for function, count in (("heavy", 300), ("light", 100), ("tiny", 100)):
        launches(server, program, (function, count), function, count * launched.get(function, 1))
    # Each alone: a call that is not walked takes the stack of the call before it from the same native place.
    for mark in COPIES:
        change = Change(server, program, ("gpu_copy",), mark)
        count, size, direction = change.said[0]["truth"]
        found = [change.at("gpu_copy", "copies", mark), change.at("gpu_copy", "copied", mark)]
        if not judge(f"{label}-{mark}", found == [count, size], f"{found}, truth {[count, size]} {direction}; in all "
                     f"{change.by('gpu_copy', 'copied', 'direction')} {change.by('gpu_copy', 'copies', 'call')}"):
            say("   elsewhere", change.elsewhere("gpu_copy", "copies", mark))
    change = Change(server, program, ("gpu_copy",), "copies")
    found, truth = change.by("gpu_copy", "copied", "direction"), change.said[0]["truth"]
    by_line = {mark: change.at("gpu_copy", "copies", mark) for mark in COPIES}
    judge(f"{label}-copies-mixed", found == truth, f"{found}, truth {truth}; by line {by_line}")
    change = Change(server, program, ("gpu_wait",), "waits")
    waits, ns = (change.at("gpu_wait", value, "waits") for value in ("waits", "wait"))
    lasted = change.said[0]["lasted"]
    judge(f"{label}-waits", waits == 5 and 0.9 * lasted <= ns <= lasted,
          f"{waits} waits of 5, {ns} ns of {lasted}; {change.by('gpu_wait', 'waits', 'call')}")
    launches(server, program, ("replay", 50), "replay", 50)
    change = Change(server, program, ("gpu_launch",), ("spin", 20000))
    compare(f"{label}-storm", change.grown("gpu_launch", "launches"), 100000,
            more=f"at its line {change.at('gpu_launch', 'launches', 'spin')}; ns a launch {[round(ns) for ns in change.said[0]['ns']]}")


def counted_launches(program):
    """Returns function -> launches per call, as torch.profiler counts them."""
    counted = program.tell("count", seconds=40)
    launched = {}
    for function, rows in counted["kernels"].items():
        kernels = {name: row for name, row in rows.items() if not name.startswith(("Memcpy", "Memset"))}
        launched[function] = sum(row[0] for row in kernels.values()) / counted["times"]
        shown = {name[:120]: [number, round(us / number, 1)] for name, (number, us) in kernels.items()}
        say(f"   torch.profiler: {function}, name -> [number, us each]:", shown)
    return launched


def cpu_time(server, program):
    program.tell("train", 3)
    warm_up(server, 5)
    program.begin("train", 5)
    time.sleep(1)
    answer = query(server, f"/profile?seconds=3&pid={program.pid}&format=text", f"{program.label}-cpu.txt")
    said = program.answer()
    found = re.search(r"stacks complete ([\d.]+) %.*", answer.text)
    judge(f"{program.label}-cpu-complete", bool(found) and float(found[1]) >= 97, found[0] if found else answer.text[:300])
    profile = server.profile(f"last=3s&pid={program.pid}")
    functions, whole = collections.Counter(), 0
    for s in profile.samples:
        whole += s.values[1]
        for name in {f.name for f in python_frames(profile, s) if f.file == program.script}:
            functions[name] += s.values[1]
    share = {name: round(100 * ns / max(whole, 1), 1) for name, ns in functions.most_common(8)}
    judge(f"{program.label}-cpu-python", share.get("train", 0) > 30,
          f"{share} % of {whole / 1e9:.2f} s; the program used {said['cpu']:.2f} s in {said['seconds']:.1f}; {said['steps']} steps")


def out_of_memory(server, program):
    said = program.tell("oom")
    time.sleep(1)
    rows = [row for row in server.json("/oom") if row["pid"] == program.pid]
    judge(f"{program.label}-oom-kept", bool(rows) and bool(said["refused"]), f"{rows}; PyTorch said {said['refused']!r}")


def heap(server, program):
    program.begin("train", 5)
    answer = server.get(f"/heap?pid={program.pid}&seconds=3&format=text&force=1")
    program.answer()
    keep(f"{program.label}-heap.txt", answer.body)
    judge(f"{program.label}-heap", answer.status == 200, f"{answer.status} {'' if answer.status == 200 else answer.text[:700]}")


def began_before(server, program):
    """A program that ran before the daemon began."""
    judge(f"{program.label}-probed", until(lambda: has_probes(server), 20), f"{sorted(uprobe_paths(server))}")
    judge(f"{program.label}-c10-probed", until(lambda: has_probes(server, "libc10.so"), 10))
    sums = snap(server, program.pid, MEMORY)
    compare(f"{program.label}-knows-nothing-from-before", sum(sums[kind].sum("inuse_space") for kind in MEMORY), 0)
    warm(server, program)
    memory(server, program, False)
    calls(server, program, {})
    keep_profiles(server, program, MEMORY + CALLS)


def began_after(server, program):
    """A program that the daemon has seen from its start."""
    launched = {}
    with step(program.label, 95):
        program.ready()
        until(lambda: has_probes(server), 10)
        warm(server, program)
        memory(server, program, True)
    with step(f"{program.label}-count", 45):
        launched = counted_launches(program)
    with step(f"{program.label}-calls", 60):
        calls(server, program, launched)
    with step(f"{program.label}-oom", 20):
        out_of_memory(server, program)
    with step(f"{program.label}-cpu", 30):
        cpu_time(server, program)
    with step(f"{program.label}-heap", 25):
        heap(server, program)
    with step(f"{program.label}-profiles", 30):
        keep_profiles(server, program, MEMORY + CALLS)


def ended(server, program):
    """A program that has ended holds nothing."""
    code = program.end()
    gone = until(lambda: not snap(server, program.pid, ("gpu_memory",))["gpu_memory"].sum("inuse_space"), 5)
    judge(f"{program.label}-ended-holds-nothing", gone, f"exit {code}")

