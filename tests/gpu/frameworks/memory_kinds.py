# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""All kinds of memory, and copies, by calls of the driver."""

from checking import compare, judge, say
from profiles import Change, keep_profiles, snap

KINDS = ("managed", "pitch", "array", "array3d", "mipmap", "physical", "pool", "pinned", "registered", "destroyed")


def one_kind(server, program, kind):
    change = Change(server, program, ("gpu_memory",), kind, settle=0.2)
    truth = change.said[0]["bytes"]
    grown, at_line = change.grown("gpu_memory", "inuse_space"), change.at("gpu_memory", "inuse_space", kind)
    labels = [change.by("gpu_memory", "inuse_space", label) for label in ("memory", "device", "call")]
    if not judge(f"kind-{kind}", grown == truth == at_line, f"in all {grown}, at its line {at_line}, truth {truth}; {labels}"):
        say("   elsewhere", change.elsewhere("gpu_memory", "inuse_space", kind))
    change = Change(server, program, ("gpu_memory",), f"{kind}_free", settle=0.2)
    compare(f"kind-{kind}-free", change.grown("gpu_memory", "inuse_space"), -truth)


def memory_kinds(server, program):
    program.ready()
    for kind in KINDS:
        one_kind(server, program, kind)
    change = Change(server, program, ("gpu_copy",), "copies")
    truth = {direction: row for direction, row in change.said[0].items() if direction != "seconds"}
    copied = change.by("gpu_copy", "copied", "direction")
    found = {direction: [number, copied.get(direction)] for direction, number in change.by("gpu_copy", "copies", "direction").items()}
    judge("kind-copies", found == truth, f"{found}, truth {truth}")
    keep_profiles(server, program, ("gpu_memory", "gpu_copy"))
    Change(server, program, ("gpu_memory",), "reset")
    left = snap(server, program.pid, ("gpu_memory",))["gpu_memory"]
    compare("kind-reset", left.sum("inuse_space"), 0, more=f"left {left.by('inuse_space', 'memory')}")
