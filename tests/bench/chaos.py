#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs a random mix of troubles at once: storms of processes, more stacks than the maps hold, damaged programs, a full disk,
a wall clock that is set, clients that stall or vanish, a daemon that is stopped, killed and started again. Beside them
another user of the host runs one attack of tests/hostile at a time. The run fails when the daemon ends by itself, an answer
is wrong or late, a loss is not counted, or the daemon grows.

  make chaos

CHAOS_SECONDS=1800 is the length of the run, and CHAOS_SEED= repeats a run. CHAOS_LIFE=60 is how long a daemon lives before
it is killed; the first one lives for five sixths of the run: it grows for a quarter of an hour, until all that has a bound
is full, and the run fails if it grows after that. CHAOS_HOSTILE="leases maps" selects some attacks, and an empty
CHAOS_HOSTILE= selects none. The run reports how much longer /healthz takes than a server that does nothing; with
CHAOS_SLOWEST=0.1 (seconds) a longer delay is a failure, except while the daemon is stopped. CHAOS_THROUGH= is a command that
runs the daemon, such as "valgrind -q --suppressions=tests/bench/valgrind.supp". With it, and with sanitizers, the run judges
neither growth nor late answers and does not set the daemon's clock.
"""

import collections
import concurrent.futures
import contextlib
import os
import random
import re
import shlex
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from accounts import Wrong, check_accounts, check_shares, size_of, told_of  # noqa: E402
from daemon import BUILD, PROFD, Daemon, bpf_left  # noqa: E402
from health import Health  # noqa: E402
from trouble import HOSTILE, TROUBLES, Place, stopped_daemon  # noqa: E402
from workload import Workload  # noqa: E402

SECONDS = float(os.environ.get("CHAOS_SECONDS", "1800"))
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 32)))
LIFE = float(os.environ.get("CHAOS_LIFE", "60"))
SLOWEST = float(os.environ.get("CHAOS_SLOWEST", "inf"))
THROUGH = shlex.split(os.environ.get("CHAOS_THROUGH", ""))
ATTACKS = [trouble for trouble in HOSTILE
           if "CHAOS_HOSTILE" not in os.environ or trouble.__name__.replace(".py", "") in os.environ["CHAOS_HOSTILE"].split()]
PLAIN = not THROUGH and "-" not in os.path.basename(BUILD)
PATIENCE = 120 if PLAIN else 600
# The first words of a sanitizer's report, and of every line that valgrind -q prints.
FOUND = re.compile(r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:|^==\d+== ", re.MULTILINE)
# Reader processes regularly reach their memory limits. ASan hangs when it tries to report that.
os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")
ROUND, AT_ONCE, REST = 6, 3, 3
# Short and small, so that the history and the symbol memory are full before the measurement starts.
SETTINGS = ("--waits", "yes", "--history", "30s", "--history-memory", "16MiB", "--symbol-memory", "16MiB")
LOSSES = ("tallies_lost", "stacks_lost", "rss_lost", "mmap_lost", "waits_lost", "wakings_lost", "ios_lost", "sideband_lost")
# In forty minutes without growth the smallest sizes of five minutes were 95 to 101 MB.
GROWTH, FD_GROWTH = 1.12, 16
# Caches and the heaps of worker threads are as full after this time as they will be.
FULL, FEW_ROUNDS = 900, 10


class Run:
    """One run, and what it has counted so far."""

    def __init__(self, rng, place, spin):
        self.rng, self.place, self.spin = rng, place, spin
        self.start, self.judged, self.slowest, self.late = time.monotonic(), 0, 0, 0
        self.troubles, self.losses = collections.Counter(), collections.Counter()

    def round(self, daemon):
        """Runs some troubles and one attack at once, then rests."""
        chosen = self.rng.sample(TROUBLES, AT_ONCE) + self.rng.sample(ATTACKS, min(1, len(ATTACKS)))
        with Health(daemon) as health:
            self.make(chosen, daemon)
        self.troubles.update(trouble.__name__ for trouble in chosen)
        time.sleep(REST)
        if daemon.process.poll() is not None:
            raise Wrong(f"profd ended by itself, {daemon.process.returncode}: {daemon.log()[-2000:]}")
        self.tell(daemon, chosen, check_accounts(daemon), health)
        if stopped_daemon not in chosen:
            self.slowest = max(self.slowest, health.worst)
            self.look_at(health)
        self.judged += check_shares(daemon, daemon.profile(f"last=30s&pid={self.spin.pid}", timeout=PATIENCE))

    def look_at(self, health):
        """Prints a late answer at once and fails the run only at its end: a rare one is best seen beside others."""
        if not PLAIN or health.worst <= SLOWEST:
            return
        self.late += 1
        print(f"  late: {health.told}", flush=True)

    def make(self, chosen, daemon):
        with concurrent.futures.ThreadPoolExecutor(len(chosen)) as pool:
            # Each trouble has its own random generator: threads would draw from a shared one in no fixed order.
            under_way = [pool.submit(trouble, daemon, random.Random(self.rng.random()), self.place, ROUND)
                         for trouble in chosen]
        for trouble in under_way:
            trouble.result()

    def tell(self, daemon, chosen, metrics, health):
        rss, fds = size_of(daemon)
        lost = {name: int(metrics.get(f"profd_{name}_total", 0)) for name in LOSSES}
        print(f"{time.monotonic() - self.start:6.0f} s  rss {rss} KiB  fds {fds}  healthz {1000 * health.worst:.0f} ms  "
              f"{' '.join(trouble.__name__ for trouble in chosen)}  "
              f"{' '.join(f'{name}={count}' for name, count in lost.items() if count)}", flush=True)

    def through(self):
        """Returns the command that runs the daemon. Instrumentation brings its own clock, or hides /proc/self/exe."""
        if PLAIN:
            return ["env", f"LD_PRELOAD={BUILD}/tests/bench/clock_steps.so", f"CLOCK_STEPS={self.place.clock}"]
        if THROUGH:
            return ["env", f"LD_PRELOAD={BUILD}/tests/bench/own_program.so", f"OWN_PROGRAM={PROFD}", *THROUGH]
        return []

    def live(self, seconds):
        """Runs a daemon from start to kill. Returns its size_of() after each round once it is full."""
        sizes, start = [], time.monotonic()
        options = (*SETTINGS, "--debuginfod", self.place.url, "--debuginfod-http", "yes")
        # The daemon has priority over the CPU storms, as the client in health.py has: how a busy host shares its CPUs is
        # not profd's doing.
        daemon = Daemon(*options, through=self.through(), first=PLAIN)
        ids = daemon.bpf_ids()
        try:
            while time.monotonic() < start + seconds:
                self.round(daemon)
                if time.monotonic() > start + FULL:
                    sizes.append(size_of(daemon))
            # After all troubles are over, a profile must still be true.
            profile = daemon.profile(f"seconds=10&pid={self.spin.pid}", timeout=PATIENCE)
            if not check_shares(daemon, profile):
                raise Wrong(f"a profile made in peace has lost samples, or their names, or has hardly any: {told_of(daemon, profile)}")
            self.judged += 1
            self.losses.update({name: daemon.metrics().get(f"profd_{name}_total", 0) for name in LOSSES})
            self.end(daemon, ids)
        finally:
            daemon.process.kill()
            daemon.process.wait()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(daemon.log_path)
        return sizes

    def end(self, daemon, ids):
        """Kills the daemon or asks it to end; either way nothing may be left in the kernel."""
        how = self.rng.choice((signal.SIGKILL, signal.SIGTERM))
        daemon.process.send_signal(how)
        code = daemon.process.wait(60)
        if code != (0 if how == signal.SIGTERM else -how):
            raise Wrong(f"profd ended with {code} on {how.name}: {daemon.log()[-8000:]}")
        found = FOUND.search(daemon.log())
        if found:
            raise Wrong(daemon.log()[found.start():][:8000])
        left = bpf_left(ids, seconds=20)
        if left:
            raise Wrong(f"the kernel still has {left}")


def growth(sizes):
    """Compares the smallest sizes of both halves. What the troubles of a round fill comes and goes, so medians differ by up to a
    tenth either way; what leaks stays."""
    half = len(sizes) // 2
    if half < FEW_ROUNDS or not PLAIN:
        return None
    before, after = ([min(size) for size in zip(*part)] for part in (sizes[:half], sizes[half:]))
    return after[0] / before[0], after[1] - before[1]


def run():
    rng = random.Random(SEED)
    print(f"chaos: CHAOS_SEED={SEED}", flush=True)
    with Place(rng, PATIENCE) as place, Workload("spin60_30_10") as spin:
        # Downloaded debug files go to the full disk.
        os.environ["DEBUGINFOD_CACHE_PATH"] = place.disk
        chaos, lives = Run(rng, place, spin), 1
        sizes = chaos.live(SECONDS * 5 / 6 if PLAIN else SECONDS / 2)
        while time.monotonic() < chaos.start + SECONDS:
            chaos.live(LIFE)
            lives += 1
    grown = growth(sizes)
    told = f"rss {100 * grown[0] - 100:+.1f} %, fds {grown[1]:+}" if grown else "growth not judged"
    bad = not chaos.judged or chaos.late or (grown and (grown[0] > GROWTH or grown[1] > FD_GROWTH))
    print(f"chaos: {'FAILED' if bad else 'passed'}: {lives} lives, {chaos.judged} profiles judged by their shares, {told}, "
          f"healthz at most {1000 * chaos.slowest:.0f} ms, late in {chaos.late} rounds; "
          f"troubles {dict(chaos.troubles)}; counted {({n: int(c) for n, c in chaos.losses.items()})}")
    return 1 if bad else 0


def main():
    if os.geteuid() != 0:
        sys.exit("chaos: needs root: sudo make chaos")
    try:
        return run()
    except Wrong as wrong:
        sys.exit(f"chaos: FAILED: {wrong}")


if __name__ == "__main__":
    sys.exit(main())
