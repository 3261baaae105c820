# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the CPUs of this host do: proc_stat(5)."""

IDLE, IOWAIT, STOLEN = 3, 4, 7


def ticks_so_far():
    """Of all CPUs since the start of the host, by what they did."""
    with open("/proc/stat", encoding="ascii") as lines:
        return [int(word) for word in lines.readline().split()[1:9]]
