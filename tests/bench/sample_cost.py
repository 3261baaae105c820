# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What one sample costs: the time of the BPF program that a tick of the timer runs, with every CPU at the bottom of
a stack without frame pointers. What the caches still hold of the walk before decides: at 99 Hz over a program that
only computes some of it, over one that goes through more memory than caches hold in between nothing, and at 999 Hz all,
which flatters. What is sampled is the whole host, so where other programs run, their stacks are in the mean as well:
then there are not as many frames a sample as were asked for.
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
WARM_UP_SECONDS = 10  # at most, where other programs start all the time
AROUND = 5  # frames above and below the steps of the workloads
FRAMES = (12, 60)
WAYS = {
    "usual": ("99 Hz, between them arithmetic", "stacks_recursion", "99"),
    "cold": ("99 Hz, caches cold: between them 64 MiB of memory", "stacks_cold", "99"),
    "hot": ("999 Hz, caches hot", "stacks_recursion", "999"),
}

# Frames, and the samples that they are of.
WALKED = ("profd_frames_total", "profd_samples_total", "profd_rss_samples_total", "profd_mmap_samples_total")

Cost = collections.namedtuple("Cost", "ns frames")


def tick(daemon):
    """(nanoseconds, runs) of the program of the timer: of those on perf events the one that runs most."""
    found = [program[1:] for program in bpf_programs(daemon).values() if program[0] == "perf_event"]
    return max(found, key=lambda program: program[1])


def measure_one(server, workload, steps):
    """The Cost of a sample of a running daemon, `steps` deep."""
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
    """way -> frames -> Cost as a dictionary."""
    results = {}
    for way, (title, workload, hz) in WAYS.items():
        results[way] = {}
        with started(variant._replace(options=[*variant.options, "--freq", hz])) as daemon:
            for frames in FRAMES:
                told(f"{variant.name}: {frames} frames, {title}")
                results[way][frames] = measure_one(daemon, workload, frames - AROUND)._asdict()
    return results
