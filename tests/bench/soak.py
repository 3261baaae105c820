#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A long run under mixed load: busy CPUs, process storms, readers of every format, clients that disconnect. The run fails
when the daemon ends, an answer is wrong, the daemon's counters do not add up, or its memory or descriptors keep growing.

  make soak                   SECONDS=600 by default
"""

import os
import random
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from accounts import Wrong, check_accounts, check_answer  # noqa: E402
from daemon import Daemon  # noqa: E402
from workload import Workload  # noqa: E402

SECONDS = float(os.environ.get("SECONDS", "600"))
LOADS = ("spin60_30_10", "mangled", "syscalls", "pingpong", "execs", "short50ms", "reexec", "spin_two")
TARGETS = (
    "/profile?seconds=1", "/profile?last=10s", "/profile?last=30s&format=folded", "/metrics", "/status",
    "/profile?seconds=1&format=text&sort=cum", "/profile?last=5s&idle=1&kernel=0", "/processes",
)
HISTORY = ("--history", "30s")  # short, so that the history is full before the measurement starts
MAX_GROWTH_KIB = 16 * 1024      # the most that an allocator may take over hours; a leak exceeds it in minutes


def one_round(daemon, rng):
    """Applies some seconds of load; returns the number of readers served."""
    served = 0
    with Workload(rng.choice(LOADS), 5), Workload(rng.choice(LOADS), 5):
        end = time.monotonic() + 4
        while time.monotonic() < end:
            target = rng.choice(TARGETS)
            check_answer(target, daemon.get(target))
            served += 1
            with daemon.connect() as s:
                s.sendall(b"GET /profile?seconds=2 HTTP/1.1\r\nHost: localhost\r\n\r\n")  # the client disconnects at once
            time.sleep(0.1)
    return served


def main():
    if os.geteuid() != 0:
        sys.exit("soak: needs root: sudo make soak")
    rng = random.Random(1)
    start, served, settled = time.monotonic(), 0, None
    with Daemon(*HISTORY) as daemon:
        while time.monotonic() < start + SECONDS:
            served += one_round(daemon, rng)
            metrics = check_accounts(daemon)
            now = (daemon.rss_kib(), daemon.fd_count())
            elapsed = time.monotonic() - start
            # Caches and the history fill in the first minute, or in the first fifth of a short run.
            if settled is None and elapsed > min(60, SECONDS / 5):
                settled = now
            print(f"{elapsed:6.0f} s  rss {now[0]} KiB  fds {now[1]}  readers {served}  "
                  f"lost {metrics['profd_tallies_lost_total']:.0f}", flush=True)
        time.sleep(5)
        end = (daemon.rss_kib(), daemon.fd_count())
        code, _ = daemon.stop()
    if settled is None:
        sys.exit("soak: too short to say anything; raise SECONDS")
    growth = (end[0] - settled[0], end[1] - settled[1])
    # Descriptors include those of executable files, which profd keeps open: hence a bound instead of equality.
    ok = code == 0 and growth[0] < MAX_GROWTH_KIB and growth[1] < 64
    print(f"soak: {'passed' if ok else 'FAILED'}: {served} readers, exit {code}, "
          f"rss {growth[0]:+} KiB, fds {growth[1]:+}")
    return 0 if ok else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"soak: {wrong}")
