# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how long a daemon takes from its start to its first sample, what that costs, and how long an answer takes: the
first one, for which no name is known yet, and the following ones. Each figure is from several daemons.
"""

import contextlib
import http.client
import statistics
import subprocess
import time

from control_group import ControlGroup
from variants import CountedDaemon
from workload import Workload, workload_path

DAEMONS = 5
NAMES = "gcc -x c -O2 -fsyntax-only /dev/null; python3 -c 'sum(hash(str(i)) for i in range(300000))'"
START_SECONDS = 3     # in which a start's cost is counted: unwind tables of running programs are built after the first sample
BEFORE_ANSWERS = 5.5  # at least the seconds that the query covers
ASKED = "/profile?last=5s&format=folded"
TIMES = 20


class FromTheStart(CountedDaemon):
    """A daemon that is ready at its first sample; `took` and `cpu` are the seconds and CPU seconds until then."""

    def wait_ready(self, seconds=120):
        end = self.started + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.metrics().get("profd_samples_total", 0) > 0:
                    self.took, self.cpu = time.monotonic() - self.started, self.group.cpu_seconds()
                    return
            time.sleep(0.002)
        raise AssertionError(f"profd has no sample after {seconds} s: {self.log()}")


@contextlib.contextmanager
def names_to_find():
    """Runs programs in C and in Python that start and end, one at a time: one CPU is left for the daemon."""
    argv = [workload_path("fixed_work"), "run", "0", "sh", "-c", NAMES]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def one(variant):
    """Returns the figures of one daemon: first_sample and answers in milliseconds, the others in CPU seconds."""
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(ControlGroup(variant.name))
        with Workload("cpubound", 60):  # so that there is a task to sample
            daemon = stack.enter_context(FromTheStart(variant, group))
            time.sleep(max(0, daemon.started + START_SECONDS - time.monotonic()))
            start_cpu = group.cpu_seconds()
        stack.enter_context(names_to_find())
        time.sleep(BEFORE_ANSWERS)
        answers = []
        for _ in range(TIMES + 1):
            answer = daemon.get(ASKED)
            if answer.status != 200:
                raise AssertionError(f"{ASKED}: {answer.status} {answer.text}")
            answers.append(1000 * answer.seconds)
            time.sleep(0.05)
        return {"first_sample": 1000 * daemon.took, "first_cpu": daemon.cpu, "start_cpu": start_cpu,
                "cold_answer": answers[0], "answers": answers[1:]}


def measure(variant, told=lambda line: None):
    """Returns medians over DAEMONS; of the TIMES answers of each, the median and the longest over all daemons."""
    found = []
    for number in range(DAEMONS):
        told(f"{variant.name}: start {number + 1} of {DAEMONS}")
        found.append(one(variant))
    answers = [answer for each in found for answer in each["answers"]]
    names = ("first_sample", "first_cpu", "start_cpu", "cold_answer")
    return {
        **{name: statistics.median(each[name] for each in found) for name in names},
        "slowest_cold_answer": max(each["cold_answer"] for each in found),
        "answer": statistics.median(answers), "slowest_answer": max(answers),
    }
