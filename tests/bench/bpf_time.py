# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The run time of a daemon's BPF programs, which the kernel counts while kernel.bpf_stats_enabled is 1. The programs
run in the time of the interrupted task, so the daemon's own CPU time does not include them.
"""

import contextlib
import json
import subprocess

STATS_SWITCH = "/proc/sys/kernel/bpf_stats_enabled"


@contextlib.contextmanager
def bpf_stats():
    with open(STATS_SWITCH, encoding="ascii") as switch:
        was = switch.read()
    with open(STATS_SWITCH, "w", encoding="ascii") as switch:
        switch.write("1")
    try:
        yield
    finally:
        with open(STATS_SWITCH, "w", encoding="ascii") as switch:
            switch.write(was)


def bpf_programs(daemon):
    """Returns id -> (type, nanoseconds, runs) of the daemon's BPF programs so far."""
    ids = daemon.bpf_ids()["prog"]
    listed = subprocess.run(["bpftool", "-j", "prog", "list"], check=True, capture_output=True).stdout
    return {
        program["id"]: (program["type"], program.get("run_time_ns", 0), program.get("run_cnt", 0))
        for program in json.loads(listed) if program["id"] in ids
    }


def bpf_run_time(daemon):
    """Returns (nanoseconds, runs) of all of the daemon's BPF programs so far."""
    programs = bpf_programs(daemon).values()
    return sum(spent for _, spent, _ in programs), sum(runs for _, _, runs in programs)
