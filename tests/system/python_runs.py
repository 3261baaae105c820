# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs of Python scripts under a daemon, and what tests ask of their samples."""

import contextlib
import signal
import subprocess
import time
import unittest

import daemon
from python_truth import is_python, python_frames
from pythons import script
from warm_up import warm_up
from workload import Workload

PATIENCE = 180
NO_TABLE = "[unknown: no unwind information]"


def shown(python, names):
    """As a version calls them: qualified from 3.11 on."""
    return names if python.qualnames else [name.rpartition(".")[2] for name in names]


def rooted(sample):
    """Natively, in what starts every dynamically linked program."""
    return any(name.startswith("__libc_start_main") for name in sample.names[-3:])


def tell(started, what):
    """Sends a signal to all of them."""
    for workload in started.values():
        workload.process.send_signal(what)


def recorded(started, seconds):
    """The query of so many seconds from now, of more where others leave them little of the CPUs. Then they stand
    still: who makes a profile of it, and who reads that, need not share the CPUs with all of them.
    """
    before = {key: workload.cpu_seconds() for key, workload in started.items()}
    enough = seconds * min(daemon.CPUS / len(started), 1) / 2  # half of what is theirs
    start = end = time.time()
    while end - start < seconds or (end - start < PATIENCE and any(
            workload.cpu_seconds() - before[key] < enough for key, workload in started.items())):
        time.sleep(0.1)
        end = time.time()
    tell(started, signal.SIGSTOP)
    time.sleep(1)  # a profile of the past has what was until then
    return f"from={start:.3f}&to={end:.3f}"


def wait_walked(server, started):
    """Until nearly all of a second's stacks are walked, and have Python frames, which takes tables and what is to be known
    of each interpreter.
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
    """(server, {key: Workload}) of {key: (Python, script, argument...)}, once all can be walked. They run
    before the daemon does, unless told otherwise, but leave the CPUs to who has yet to start.
    """
    with contextlib.ExitStack() as stack:
        started = {}

        def start():
            for key, (python, name, *arguments) in commands.items():
                # They are killed; what their children have to say to that is no matter.
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
    """Tests of one profile, cls.profile, that setUpClass took."""

    profile = None

    def frames(self, sample):
        """Its Python frames, outermost first."""
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
        """Of samples of self.profile, but for two: of a hundred, one is more than 0.5 %."""
        total = sum(s.count for s in samples)
        self.assertGreater(total, 0)
        others = sorted((s for s in samples if not where(s)), key=lambda s: -s.count)
        count = sum(s.count for s in others)
        examples = "\n".join(map(self.described, others[:4]))
        self.assertLessEqual(count, max(2, total * (1 - at_least)), f"of {total}; not so:\n{examples}")

    def assert_has(self, samples, chain, at_least=0.99):
        """The chain is in the Python frames, from root to leaf with nothing between."""
        def has(sample):
            names = self.python_names(sample)
            return any(names[i:i + len(chain)] == chain for i in range(len(names)))
        self.assert_mostly(samples, has, at_least)
