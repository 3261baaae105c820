# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs Python scripts under a daemon, and checks their samples."""

import contextlib
import signal
import subprocess
import time
import unittest

import daemon
from python_truth import is_python, python_frames
from pythons import script
from warm_up import warm_up
from workload import Workload, spend

PATIENCE = 180
NO_TABLE = "[unknown: no unwind information]"


def shown(python, names):
    """Returns the names as a version shows them: qualified from 3.11 on."""
    return names if python.qualnames else [name.rpartition(".")[2] for name in names]


def rooted(sample):
    """Whether the native stack begins in the function that starts every dynamically linked program."""
    return any(name.startswith("__libc_start_main") for name in sample.names[-3:])


def tell(started, what):
    """Sends a signal to all workloads."""
    for workload in started.values():
        workload.process.send_signal(what)


def recorded(started, seconds):
    """Waits so many seconds, or longer where other programs leave the workloads little CPU time; then stops the workloads and
    returns the query of that time. The stopped workloads do not compete with the daemon that makes the profile, nor with the
    test that reads it.
    """
    enough = seconds * min(daemon.CPUS / len(started), 1) / 2  # half of the CPU time that they could get
    query = spend([workload.pid for workload in started.values()], enough, seconds, PATIENCE)
    tell(started, signal.SIGSTOP)
    time.sleep(1)  # by then the history has all samples of that time
    return query


def wait_walked(server, started):
    """Waits until nearly all stacks of a second are walked and have Python frames; for this profd needs unwind tables, and the
    layout of each interpreter.
    """
    end = time.monotonic() + PATIENCE
    while True:
        profile = server.profile(recorded(started, 1))
        tell(started, signal.SIGCONT)
        found = {workload.pid: [0, 0] for workload in started.values()}
        for sample in profile.samples:
            if sample.labels.get("pid") in found:
                walked = any(map(is_python, sample.mappings)) and NO_TABLE not in sample.names
                found[sample.labels["pid"]][walked] += sample.count
        if all(walked > 50 * others for others, walked in found.values()):
            return
        if time.monotonic() > end:
            raise AssertionError(f"pid: stacks that are not walked, and that are: {found}")


@contextlib.contextmanager
def running(commands, hz=999, attach_late=True):
    """Yields (server, {key: Workload}) of {key: (Python, script, argument...)}, once all stacks can be walked. By default the
    workloads start before the daemon, and are stopped while the other programs start, to leave them the CPUs.
    """
    with contextlib.ExitStack() as stack:
        started = {}

        def start():
            for key, (python, name, *arguments) in commands.items():
                # The workloads are killed in the end; the complaints of their children do not matter.
                workload = Workload(python.path, script(name), *arguments, stderr=subprocess.DEVNULL)
                started[key] = stack.enter_context(workload)
                if attach_late:
                    workload.process.send_signal(signal.SIGSTOP)
        if attach_late:
            start()
        server = stack.enter_context(daemon.Daemon(hz=hz))
        if attach_late:
            tell(started, signal.SIGCONT)
            wait_walked(server, started)
        else:
            start()
            warm_up(server, 10)
        yield server, started


class PythonCase(unittest.TestCase):
    """Tests of one profile, cls.profile, which setUpClass takes."""

    profile = None

    def frames(self, sample):
        """Returns the sample's Python frames, outermost first."""
        return python_frames(self.profile, sample)

    def described(self, sample):
        lines = ";".join(f"{frame.name}:{frame.line}" for frame in self.frames(sample))
        return f"{sample!r}"[-1500:] + f"\n    {lines}"[-500:]

    def python_names(self, sample):
        return [frame.name for frame in self.frames(sample)]

    def of(self, workload, at_least=100):
        samples = [s for s in self.profile.samples if s.labels.get("pid") == workload.pid]
        self.assertGreater(sum(s.count for s in samples), at_least)
        return samples

    def assert_mostly(self, samples, where, at_least=0.995):
        """Allows two exceptions among samples of self.profile: one sample of a hundred is already more than 0.5 %."""
        total = sum(s.count for s in samples)
        self.assertGreater(total, 0)
        others = sorted((s for s in samples if not where(s)), key=lambda s: -s.count)
        count = sum(s.count for s in others)
        examples = "\n".join(map(self.described, others[:4]))
        self.assertLessEqual(count, max(2, total * (1 - at_least)), f"of {total}; not so:\n{examples}")

    def assert_has(self, samples, chain, at_least=0.99):
        """Asserts that the Python frames contain the chain, from root to leaf without other frames in between."""
        def has(sample):
            names = self.python_names(sample)
            return any(names[i:i + len(chain)] == chain for i in range(len(names)))
        self.assert_mostly(samples, has, at_least)
