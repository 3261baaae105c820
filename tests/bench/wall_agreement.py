#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares time of threads, whether they run or wait, with that of other tools on the same run.

  make agreement-wall                     all of it
  tests/bench/wall_agreement.py yappi     the named parts: pyinstrument, yappi, py-spy, perf

Of workloads/python/asks.py the shares of five functions, by the program's own clock, by the tool, and by profd's type=wall;
pyinstrument and yappi run in the program and slow it down. Of workloads/waits the seconds that each thread did not run, by
`perf sched record` and by type=offcpu. Fails where profd differs from the program's own clock by more than 3 points, or from
perf by more than 1 %.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "system"), HERE]

from daemon import BUILD, Daemon  # noqa: E402
from python_truth import python_frames  # noqa: E402
from pythons import script, system_python  # noqa: E402
from warm_up import warm_up  # noqa: E402
from workload import Workload  # noqa: E402

SECONDS = float(os.environ.get("SECONDS", "10"))
VENV = os.path.join(BUILD, "wall-venv")
PACKAGES = ("pyinstrument", "yappi", "py-spy")
NAMES = ("asks", "locks", "gathers", "sleeps", "computes")
MOST_POINTS, MOST_PERCENT = 3, 1


def install():
    if not os.path.exists(f"{VENV}/bin/py-spy"):
        print("installing", *PACKAGES, file=sys.stderr)
        subprocess.run([system_python().path, "-m", "venv", VENV], check=True)
        subprocess.run([f"{VENV}/bin/pip", "install", "-q", *PACKAGES], check=True)


def shares(times):
    """Returns percent by function, of what the functions have together."""
    whole = sum(times.get(name, 0) for name in NAMES) or 1
    return {name: 100 * times.get(name, 0) / whole for name in NAMES}


def of_profd(profile, pid):
    times = collections.Counter()
    for sample in profile.samples:
        names = {frame.name.rpartition(".")[2] for frame in python_frames(profile, sample)}
        for name in names & set(NAMES) if sample.labels["tid"] == pid else ():
            times[name] += sample.values[1]
    return times


def beside(server, arguments, *during):
    """Runs the program with `arguments`; returns (its last line, profd's times). `during` is a command that gets its pid."""
    with Workload(f"{VENV}/bin/python", *arguments) as workload:
        time.sleep(1)
        tool = subprocess.Popen([*during, str(workload.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if during else None
        profile = server.profile(f"type=wall&seconds={SECONDS:.0f}&native=0&pid={workload.pid}")
        if tool:
            tool.wait(60)
        return json.loads(workload.output().splitlines()[-1]), of_profd(profile, workload.pid)


def by_pyinstrument(server):
    with tempfile.NamedTemporaryFile(suffix=".json") as found:
        own, ours = beside(server, ["-m", "pyinstrument", "-r", "json", "-o", found.name, script("asks"), SECONDS + 3])
        theirs = collections.Counter()

        def add(frame):
            if frame["function"] in NAMES and frame["file_path"].endswith("asks.py"):
                theirs[frame["function"]] += frame["time"]
                return
            for child in frame["children"]:
                add(child)

        add(json.load(found)["root_frame"])
    return own, theirs, ours


def by_yappi(server):
    told, ours = beside(server, [script("asks"), SECONDS + 3, "yappi"])
    return told["own"], told["tool"], ours


def by_py_spy(server):
    with tempfile.NamedTemporaryFile() as found:
        own, ours = beside(server, [script("asks"), SECONDS + 3], f"{VENV}/bin/py-spy", "record", "--idle", "--rate", "99", "--format",
                           "raw", "--nolineno", "--duration", f"{SECONDS:.0f}", "--output", found.name, "--pid")
        theirs = collections.Counter()
        for line in found.read().decode().splitlines():
            stack, _, count = line.rpartition(" ")
            for name in {re.sub(r" \(.*", "", frame) for frame in stack.split(";")} & set(NAMES):
                theirs[name] += int(count)
    return own, theirs, ours


def compare(name, by, server):
    """Prints the shares; returns whether profd's are right."""
    clock, tool, profd = map(shares, by(server))
    print(f"{name:14} {'own clock':>10} {name:>13} {'profd':>8}")
    for function in NAMES:
        print(f"  {function:12} {clock[function]:8.1f} % {tool[function]:11.1f} % {profd[function]:6.1f} %")
    worst = max(abs(profd[function] - clock[function]) for function in NAMES)
    print(f"  profd differs from the own clock by at most {worst:.1f} points, {name} by "
          f"{max(abs(tool[function] - clock[function]) for function in NAMES):.1f}", flush=True)
    return worst <= MOST_POINTS


def ran_by_perf(data):
    """Returns {tid: seconds that it ran}. perf's own sums, by `timehist`, lack switches here and there."""
    text = subprocess.run(["perf", "script", "-i", data, "-F", "event,trace"], capture_output=True, text=True, check=True).stdout
    ran = collections.Counter()
    for tid, ns in re.findall(r"sched_stat_runtime: .* pid=(\d+) runtime=(\d+)", text):
        ran[int(tid)] += int(ns) / 1e9
    return ran


def compare_with_perf(server):
    with Workload("waits", SECONDS + 6) as workload, tempfile.TemporaryDirectory() as folder:
        time.sleep(2)
        data = os.path.join(folder, "perf.data")
        with subprocess.Popen(["perf", "sched", "record", "-q", "-m", "16M", "-o", data, "--", "sleep", f"{SECONDS:.0f}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as perf:
            profile = server.profile(f"type=offcpu&seconds={SECONDS:.0f}&pid={workload.pid}")
            perf.wait(60)
        ran = ran_by_perf(data)
    ours, elapsed = collections.Counter(), profile.duration_ns / 1e9
    for sample in profile.samples:
        ours[sample.labels["tid"]] += sample.values[1] / 1e9
    print(f"{'perf sched':14} {'perf':>10} {'profd':>10}  seconds that each thread waited")
    worst = 0
    for tid in sorted(ours):
        theirs = elapsed - ran[tid]
        difference = 100 * abs(ours[tid] - theirs) / theirs
        worst = max(worst, difference)
        print(f"  {tid:<12} {theirs:10.3f} {ours[tid]:10.3f}  {difference:.2f} %")
    return worst <= MOST_PERCENT


def main():
    parts = {"pyinstrument": by_pyinstrument, "yappi": by_yappi, "py-spy": by_py_spy}
    wanted = sys.argv[1:] or [*parts, "perf"]
    install()
    right = []
    with Daemon("--waits", "yes") as server:
        warm_up(server, 5)
        right += [compare(name, by, server) for name, by in parts.items() if name in wanted]
        if "perf" in wanted and shutil.which("perf"):
            right.append(compare_with_perf(server))
        elif "perf" in wanted:
            print("perf is not installed, and not compared")
    print(f"agreement: {sum(right)} of {len(right)}")
    return 0 if right and all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
