# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deep stacks that are new at each tick use up only their own user's share, also in the history. FIGURES=1 prints the figures."""

import contextlib
import os
import sys
import time
import unittest

from daemon import Daemon
from hostile_runs import NOBODY, Attack

LOST = "[unknown: stack lost]"
NOT_KEPT = "[stack not kept: too many of this user]"
LEVELS = 20  # of two frames each: a stack has three nodes of 16 frames


def go_first(pid, nice):
    """Gives a session CPU priority over others: how a busy host shares its CPUs is not under test."""
    os.setpriority(os.PRIO_PGRP, pid, nice)
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
        file.write(str(nice))


class HostileStacks(unittest.TestCase):
    def test_they_are_lost_to_their_user_only(self):
        # At this rate the reserve for other kinds of stacks is small beside what the ticks of two CPUs can take.
        with Daemon("--freq=499", through=["setsid"]) as server, Attack("deep_stacks", 250, os.cpu_count()) as his, \
                Attack("deep_stacks", LEVELS, uid=NOBODY) as hers:
            for process, nice in ((server, -15), (his, -15), (hers, -5)):
                go_first(process.pid, nice)
            server.profile(f"seconds=2&pid={hers.pid}")  # by then the unwind tables are built
            before = server.metrics()
            profile = server.profile(f"seconds=5&pid={hers.pid}")
            after = server.metrics()
        counted = {name: after[f"profd_{name}_total"] - before[f"profd_{name}_total"]
                   for name in ("ticks", "samples", "idle", "stacks_lost", "stacks_over_share")}
        total = sum(sample.count for sample in profile.samples)
        lost = sum(sample.count for sample in profile.samples if LOST in sample.names)
        if os.environ.get("FIGURES"):
            print(f"{lost} of {total} samples of hers without a stack; {counted}", file=sys.stderr, flush=True)
        self.assertGreater(total, 100, counted)
        self.assertLess(lost, total / 100, counted)
        self.assertGreater(counted["stacks_over_share"], 100, counted)
        self.assertEqual(counted["ticks"], counted["samples"] + counted["idle"])

    def test_they_shorten_no_past_but_their_user_s(self):
        # CPU time has half of this memory: enough for a few seconds of the attacker's stacks.
        with Daemon("--history-memory=2MiB", through=["setsid"]) as server, Attack("deep_stacks", 2, uid=NOBODY) as hers, \
                Attack("deep_stacks", 250, os.cpu_count()) as his:
            for process, nice in ((server, -15), (his, -15), (hers, -15)):
                go_first(process.pid, nice)
            server.profile(f"seconds=2&pid={hers.pid}")  # by then the unwind tables are built
            time.sleep(13)
            profile, attack = (server.profile(f"last=10s&pid={process.pid}") for process in (hers, his))
            metrics = server.metrics()
        kept = {name: metrics[f'profd_{name}{{type="cpu"}}']
                for name in ("history_seconds", "history_bytes", "stacks_evicted_total", "windows_evicted_total")}
        attacks, folded = (sum(sample.count for sample in attack.samples if name is None or name in sample.names)
                           for name in (None, NOT_KEPT))
        if os.environ.get("FIGURES"):
            print(f"{profile.duration_ns / 1e9:.1f} s of hers, {folded} of {attacks} samples of his without a stack; {kept}",
                  file=sys.stderr, flush=True)
        self.assertGreater(profile.duration_ns, 9e9, kept)
        self.assertFalse([sample for sample in profile.samples if NOT_KEPT in sample.names], kept)
        self.assertGreater(sum(sample.count for sample in profile.samples), 100, kept)
        self.assertGreater(folded, 100, kept)
        self.assertGreater(attacks, folded, kept)
        self.assertGreater(kept["stacks_evicted_total"], folded, kept)


if __name__ == "__main__":
    unittest.main()
