#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares profiles of Python with py-spy's of the same processes: their contents and their costs.

  make bench-python                  all of it
  tests/bench/python.py shares cost  the named parts: shares, slowdown, cost
  REPETITIONS=9 SECONDS=4            of the slowdown; 5 and 3 by default
  VERSIONS="3.8 3.13"                of the shares; all by default

"shares" profiles split.py with both profilers at once. "slowdown" is the ratio of the rounds a second that loops.py makes
without a profiler to those it makes with one, medians of interleaved repetitions. "cost" is the CPU time of each profiler
for one process and for many; profd's includes its BPF programs.
"""

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "system"), HERE]

from bpf_time import bpf_run_time, bpf_stats  # noqa: E402
from daemon import BUILD, CPUS, Daemon  # noqa: E402
from python_truth import python_frames  # noqa: E402
from pythons import name_of, pythons, script, system_python  # noqa: E402
from warm_up import warm_up  # noqa: E402
from workload import Workload, cpu_seconds  # noqa: E402

REPETITIONS = int(os.environ.get("REPETITIONS", "5"))
SECONDS = float(os.environ.get("SECONDS", "3"))
RATE = 99
SHARES_SECONDS = 15
COST_SECONDS = 15
MANY = 20
TURN = 300000  # of split.py
VENV = os.environ.get("PYTHON_VENV", os.path.join(BUILD, "python-venv"))
PY_SPY = os.path.join(VENV, "bin", "py-spy")
PACKAGES = ("py-spy", "numpy", "greenlet", "gevent")
FUNCTIONS = ("sixty", "generator", "callback", "Body", "<lambda>")


def install():
    if not os.path.exists(PY_SPY):
        print("installing", *PACKAGES, file=sys.stderr)
        subprocess.run([system_python().path, "-m", "venv", VENV], check=True)
        subprocess.run([f"{VENV}/bin/pip", "install", "-q", *PACKAGES], check=True)


@contextlib.contextmanager
def py_spy(pid, seconds, output, *options):
    """Records a process while the block runs; yields py-spy's Popen."""
    argv = [PY_SPY, "record", "--rate", str(RATE), "--format", "raw", "--duration", str(seconds), "--nolineno",
            "--output", output, "--pid", str(pid), *options]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()


# ---- contents --------------------------------------------------------------------------------------------
def shares_of_raw(path):
    """Returns function -> its percent of all samples, and their number, from py-spy's folded stacks."""
    counts, total = dict.fromkeys(FUNCTIONS, 0), 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, count = line.rpartition(" ")
            names = {re.sub(r" \(.*", "", frame).rpartition(".")[2] for frame in stack.split(";")}
            total += int(count)
            for name in names & counts.keys():
                counts[name] += int(count)
    return {name: 100 * count / max(total, 1) for name, count in counts.items()}, total


def shares_of_profile(profile):
    counts, total = dict.fromkeys(FUNCTIONS, 0), profile.total()
    for sample in profile.samples:
        names = {frame.name.rpartition(".")[2] for frame in python_frames(profile, sample)}
        for name in names & counts.keys():
            counts[name] += sample.count
    return {name: 100 * count / max(total, 1) for name, count in counts.items()}, total


def compare_shares(python, *options):
    """Returns the largest difference in percentage points, or None where py-spy fails or profd has too few samples."""
    with tempfile.NamedTemporaryFile(suffix=".raw") as raw:
        with Workload(python.path, script("split"), 600, TURN) as workload, Daemon(hz=RATE) as server:
            warm_up(server)
            with py_spy(workload.pid, SHARES_SECONDS, raw.name, *options) as spy:
                profile = server.profile(f"seconds={SHARES_SECONDS}&pid={workload.pid}")
                spy.wait(60)
                failed = spy.returncode != 0 and spy.stderr.read().strip().splitlines()[-1:]
        ours, our_total = shares_of_profile(profile)
        theirs, their_total = shares_of_raw(raw.name)
    what = " ".join(["py-spy", *options])
    show = " ".join(f"{name} {ours[name]:.1f}/{theirs[name]:.1f}" for name in FUNCTIONS)
    if our_total < RATE * SHARES_SECONDS / 2:
        print(f"  {name_of(python):50} {what}: not compared, others had the CPUs: {our_total} samples", flush=True)
        return None
    if failed or not their_total:
        print(f"  {name_of(python):50} {what}: no samples {failed}; profd alone: {show}", flush=True)
        return None
    worst = max(abs(ours[name] - theirs[name]) for name in FUNCTIONS)
    print(f"  {name_of(python):50} {what}: within {worst:.1f} points of {our_total}/{their_total}: {show}", flush=True)
    return worst


def measure_shares():
    print(f"shares of split.py, profd/py-spy, both at once at {RATE} Hz for {SHARES_SECONDS} s")
    only = os.environ.get("VERSIONS", "").split()
    found = [compare_shares(python) for python in pythons() if not only or python.label in only]
    found.append(compare_shares(system_python(), "--native"))
    compared = [worst for worst in found if worst is not None]
    if not compared or max(compared) > 3:
        sys.exit("python.py: profd and py-spy disagree by more than 3 points, or nothing was compared")


# ---- costs -----------------------------------------------------------------------------------------------
def rounds(python, profiler):
    with contextlib.ExitStack() as stack:
        if profiler == "profd":
            stack.enter_context(Daemon(hz=RATE))
        workload = stack.enter_context(Workload(python.path, script("loops"), SECONDS))
        if profiler and profiler.startswith("py-spy"):
            # The recording lasts longer than the workload lives, and ends with it.
            stack.enter_context(py_spy(workload.pid, int(SECONDS) + 5, os.devnull, *profiler.split()[1:]))
        return float(workload.output().split()[0])


def measure_slowdown():
    python = system_python()
    modes = (None, "profd", "py-spy", "py-spy --native")
    values = {mode: [] for mode in modes}
    for repetition in range(REPETITIONS):
        turn = repetition % len(modes)
        for mode in modes[turn:] + modes[:turn]:
            values[mode].append(rounds(python, mode))
    medians = {mode: statistics.median(values[mode]) for mode in modes}
    spread = statistics.median(abs(value / medians[None] - 1) for value in values[None])
    print(f"slowdown of loops.py in {name_of(python)}, {REPETITIONS} repetitions of {SECONDS:g} s, spread {spread:.3f}")
    for mode in modes[1:]:
        print(f"  {mode:16} {medians[None] / medians[mode]:7.3f} x", flush=True)


def cost_of_profd(workloads):
    """Profiles all workloads and asks for one answer. Returns CPU seconds of (the daemon, its BPF programs)."""
    with Daemon(hz=RATE) as server, bpf_stats():
        warm_up(server)
        before, bpf_before = cpu_seconds(server.pid), bpf_run_time(server)[0]
        server.profile(f"seconds={COST_SECONDS}")
        return cpu_seconds(server.pid) - before, (bpf_run_time(server)[0] - bpf_before) / 1e9


def cost_of_py_spy(workloads, *options):
    before = os.times()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        for workload in workloads:
            stack.enter_context(py_spy(workload.pid, COST_SECONDS, f"{folder}/{workload.pid}", *options))
        time.sleep(COST_SECONDS)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure_cost():
    python = system_python()
    for count in (1, MANY):
        with contextlib.ExitStack() as stack:
            workloads = [stack.enter_context(Workload(python.path, script("split"))) for _ in range(count)]
            own, bpf = cost_of_profd(workloads)
            spy = cost_of_py_spy(workloads)
            native = cost_of_py_spy(workloads, "--native")
        print(f"CPU seconds to profile {count} of {name_of(python)} for {COST_SECONDS} s at {RATE} Hz, {CPUS} CPUs")
        print(f"  profd            {own:7.2f} + {bpf:.3f} in BPF")
        for name, cost in (("py-spy", spy), ("py-spy --native", native)):
            print(f"  {name:16} {cost:7.2f}    {cost / (own + bpf):6.1f} x profd's", flush=True)


MEASURES = {"shares": measure_shares, "slowdown": measure_slowdown, "cost": measure_cost}


def main():
    if os.geteuid() != 0:
        sys.exit("python.py: needs root: sudo make bench-python")
    wanted = sys.argv[1:] or list(MEASURES)
    if set(wanted) - MEASURES.keys():
        sys.exit(f"python.py: what there is: {', '.join(MEASURES)}")
    install()
    for name in wanted:
        MEASURES[name]()


if __name__ == "__main__":
    main()
