# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs of Python scripts under a daemon, and what tests ask of their samples."""

import contextlib
import subprocess
import unittest

import daemon
from python_truth import python_frames
from pythons import script
from warm_up import warm_up
from workload import Workload


def shown(python, names):
    """As a version calls them: qualified from 3.11 on."""
    return names if python.qualnames else [name.rpartition(".")[2] for name in names]


def rooted(sample):
    """Natively, in what starts every dynamically linked program."""
    return any(name.startswith("__libc_start_main") for name in sample.names[-3:])


@contextlib.contextmanager
def running(commands, hz=999, attach_late=True):
    """(server, {key: Workload}) of {key: (Python, script, argument...)}, once all can be walked. They run
    before the daemon does, unless told otherwise.
    """
    with contextlib.ExitStack() as stack:
        started = {}

        def start():
            for key, (python, name, *arguments) in commands.items():
                # They are killed; what their children have to say to that is no matter.
                workload = Workload(python.path, script(name), *arguments, stderr=subprocess.DEVNULL)
                started[key] = stack.enter_context(workload)
        if attach_late:
            start()
        server = stack.enter_context(daemon.Daemon(hz=hz))
        if not attach_late:
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
        """Of samples of self.profile."""
        total = sum(s.count for s in samples)
        self.assertGreater(total, 0)
        others = sorted((s for s in samples if not where(s)), key=lambda s: -s.count)
        share = 1 - sum(s.count for s in others) / total
        examples = "\n".join(map(self.described, others[:4]))
        self.assertGreaterEqual(share, at_least, f"{100 * share:.2f} % of {total}; not so:\n{examples}")

    def assert_has(self, samples, chain, at_least=0.99):
        """The chain is in the Python frames, from root to leaf with nothing between."""
        def has(sample):
            names = self.python_names(sample)
            return any(names[i:i + len(chain)] == chain for i in range(len(names)))
        self.assert_mostly(samples, has, at_least)
