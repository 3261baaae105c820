# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a daemon's BPF programs took, as the kernel counts it while it is told to. They run in the time of whoever
they interrupt, so it is no part of the daemon's own CPU time.
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
    """id -> (type, nanoseconds, runs) of its BPF programs so far."""
    ids = daemon.bpf_ids()["prog"]
    listed = subprocess.run(["bpftool", "-j", "prog", "list"], check=True, capture_output=True).stdout
    return {
        program["id"]: (program["type"], program.get("run_time_ns", 0), program.get("run_cnt", 0))
        for program in json.loads(listed) if program["id"] in ids
    }


def bpf_run_time(daemon):
    """(nanoseconds, runs) of all its BPF programs so far."""
    programs = bpf_programs(daemon).values()
    return sum(spent for _, spent, _ in programs), sum(runs for _, _, runs in programs)
