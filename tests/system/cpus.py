# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The use of this host's CPUs: proc_stat(5)."""

IDLE, IOWAIT, STOLEN = 3, 4, 7


def ticks_so_far():
    """Returns the ticks of all CPUs since the host's start, by the state that they were spent in."""
    with open("/proc/stat", encoding="ascii") as lines:
        return [int(word) for word in lines.readline().split()[1:9]]
