# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Waits until a daemon can walk the running programs: stacks are truncated while their unwind tables are built."""

import time

PENDING = "profd_unwind_tables_pending"
QUIET_SECONDS = 1  # profd first misses a new process, then asks for its tables


def warm_up(server, seconds=30):
    """Returns the metrics once no table has been pending for QUIET_SECONDS, or when time is up."""
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
