# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""CuPy, Triton and JAX: launches by Python line and name of the kernel, and memory."""

from checking import MIB, compare, judge, say
from gpu_runs import until
from profiles import MEMORY, Change, complete, has_probes, keep_profiles, launches, snap, total
from warm_up import warm_up


def warm(server, program, command, mark):
    """Waits until the launches of a command, at least 20, come to its line; the next comparisons judge whether they do."""
    for nth in range(10):
        change = Change(server, program, ("gpu_launch",), command)
        if change.at("gpu_launch", "launches", mark) >= 20:
            break
        warm_up(server, 8)
    say(f"   {program.label}: warm after {nth + 1} rounds")


def cupy(server, program):
    warm(server, program, ("elementwise", 20), "elementwise")
    for command, count, kernel in (("elementwise", 200, "profd_elementwise"), ("raw_kernel", 150, "profd_raw"), ("adds", 50, "cupy_add")):
        launches(server, program, (command, count), command, count, kernel)
    change = Change(server, program, ("gpu_memory",), "keep")
    compare("cupy-keep", change.at("gpu_memory", "inuse_space", "keep"), change.said[0]["bytes"],
            more=f"in all {change.grown('gpu_memory', 'inuse_space')}")
    change = Change(server, program, ("gpu_memory",), "forget")
    compare("cupy-forget", change.at("gpu_memory", "inuse_space", "keep"), -256 * MIB)
    complete(server, program, "gpu_launch")
    keep_profiles(server, program, ("gpu_memory", "gpu_launch"))


def triton(server, program):
    warm(server, program, ("launch", 20), "launch")
    launches(server, program, ("launch", 120), "launch", 120, "profd_triton_add")
    complete(server, program, "gpu_launch")
    keep_profiles(server, program, ("gpu_launch",))


def jax(server, program):
    judge("jax-plugin-probed", until(lambda: has_probes(server, "xla_cuda_plugin"), 20))
    warm(server, program, ("calls", 20), "calls")
    change = Change(server, program, ("gpu_launch", "gpu_wait"), ("calls", 50))
    found, everything = change.at("gpu_launch", "launches", "calls"), change.grown("gpu_launch", "launches")
    # How many kernels XLA makes of the function is its own affair, but each call launches the same ones.
    judge("jax-calls", found >= 50 and found % 50 == 0, f"at the line {found}, in all {everything} of 50 calls; "
          f"{change.by('gpu_launch', 'launches', 'kernel')}; elsewhere {change.elsewhere('gpu_launch', 'launches', 'calls')}; "
          f"waits {change.by('gpu_wait', 'waits', 'call')}")
    jax_memory(server, program)
    keep_profiles(server, program, MEMORY + ("gpu_launch",))


def jax_memory(server, program):
    for command in ("keep", "put", "forget"):
        program.tell(command)
    warm_up(server, 8)
    for command in ("keep", "put"):
        change = Change(server, program, MEMORY, command)
        compare(f"jax-{command}", change.at("gpu_tensor", "inuse_space", command), change.said[0]["bytes"], 0.001,
                more=f"in all {change.grown('gpu_tensor', 'inuse_space')}; gpu_memory {change.grown('gpu_memory', 'inuse_space')}; "
                f"elsewhere {change.elsewhere('gpu_tensor', 'inuse_space', command)}")
    now = program.tell("stats")["bytes_in_use"]
    sums = snap(server, program.pid, ("gpu_tensor",))["gpu_tensor"]
    if now:
        compare("jax-in-use-is-stats", total(sums, "inuse_space", lambda s: s.labels.get("device") == "cuda:0"), now, 0.02,
                more=f"{sums.by('inuse_space', 'device')}")
    change = Change(server, program, ("gpu_tensor",), "forget")
    compare("jax-forget", change.grown("gpu_tensor", "inuse_space"), -320 * MIB, 0.001)
