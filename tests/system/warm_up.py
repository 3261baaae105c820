# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Waits until a daemon can walk what runs now: stacks are cut short while their tables are built."""

import time

PENDING = "profd_unwind_tables_pending"
QUIET_SECONDS = 1  # a new process is missed first, then its tables are asked for


def warm_up(server, seconds=30):
    """The metrics once no table has been waited for, for a while, or time is up."""
    end = time.monotonic() + seconds
    quiet_since = time.monotonic()
    while True:
        metrics = server.metrics()
        now = time.monotonic()
        if metrics.get(PENDING, 0) > 0:
            quiet_since = now
        if now - quiet_since > QUIET_SECONDS or now > end:
            return metrics
        time.sleep(0.1)
