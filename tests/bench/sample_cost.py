# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures what one sample costs: the time of the BPF program that a timer tick runs, with every CPU at the bottom of a
stack without frame pointers. The cost depends on what the caches still hold from the previous walk. At 99 Hz they hold some
of it over a program that only computes, and none of it over a program that goes through more memory between the samples
than they hold. At 999 Hz they hold all of it, which flatters profd. profd samples the whole host: stacks of other programs
are in the mean as well, and then the mean number of frames differs from the one that was asked for.
"""

import collections
import contextlib
import time

from bpf_time import bpf_programs, bpf_stats
from daemon import CPUS
from variants import started
from warm_up import warm_up
from workload import Workload

SECONDS = 6
WARM_UP_SECONDS = 10  # at most, where other programs keep starting
AROUND = 5  # frames above and below the steps of the workloads
FRAMES = (12, 60)
WAYS = {
    "usual": ("99 Hz, between them arithmetic", "stacks_recursion", "99"),
    "cold": ("99 Hz, caches cold: between them 64 MiB of memory", "stacks_cold", "99"),
    "hot": ("999 Hz, caches hot", "stacks_recursion", "999"),
}

# The counter of frames, and the counters of the samples that they belong to.
WALKED = ("profd_frames_total", "profd_samples_total", "profd_rss_samples_total", "profd_mmap_samples_total")

Cost = collections.namedtuple("Cost", "ns frames")


def tick(daemon):
    """Returns (nanoseconds, runs) of the timer's program: the one that runs most of those on perf events."""
    found = [program[1:] for program in bpf_programs(daemon).values() if program[0] == "perf_event"]
    return max(found, key=lambda program: program[1])


def measure_one(server, workload, steps):
    """Returns the Cost of a sample of a running daemon, `steps` deep."""
    with contextlib.ExitStack() as stack:
        for _ in range(CPUS):
            stack.enter_context(Workload(workload, steps))
        warm_up(server, WARM_UP_SECONDS)
        with bpf_stats():
            before, first = server.metrics(), tick(server)
            time.sleep(SECONDS)
            last, after = tick(server), server.metrics()
    frames, *samples = (after.get(name, 0) - before.get(name, 0) for name in WALKED)
    return Cost((last[0] - first[0]) / max(last[1] - first[1], 1), frames / max(sum(samples), 1))


def measure(variant, told=lambda line: None):
    """Returns way -> frames -> Cost as a dictionary."""
    results = {}
    for way, (title, workload, hz) in WAYS.items():
        results[way] = {}
        with started(variant._replace(options=[*variant.options, "--freq", hz])) as daemon:
            for frames in FRAMES:
                told(f"{variant.name}: {frames} frames, {title}")
                results[way][frames] = measure_one(daemon, workload, frames - AROUND)._asdict()
    return results
