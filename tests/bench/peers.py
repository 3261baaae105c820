# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What other whole-host profilers cost, printed beside the measured figures: OpenTelemetry's ebpf-profiler, lightswitch, and
profd as it was then. These figures are from ANOTHER RUN: one session on a machine with two cores, each profiler at its
defaults and in its own control group. They compare only with one another, within one column of a table.
"""

NOTE = "from another run, on a machine with two cores; compare them with one another only"

# row of slowdown.py -> percent of CPU time, (profd then, OTel, lightswitch); None where it was not measured.
SLOWDOWN = {
    "forkexec": ("+19.6 to +22", "+2.6", "+6.1"),
    "shell": ("+19 to +40", "+7.6", "+0.6"),
    "fork": ("+12.5", "+2.5", "+3.2"),
    "touch": ("+10.6 to +14.4", "+2.2", "-1.7"),
    "mmap": ("+12.5", "+6.0", "+21.3"),
    "git-status": ("+7.5 to +9.5", None, None),
    "git-log": ("+7.5 to +9.5", None, None),
    "cpu": ("+1.0", None, None),
    "pingpong": ("+2.1", None, None),
    "getppid": ("+3.1", None, None),
}

# state of own_cost.py -> CPU seconds a minute, with readers and BPF.
OWN_CPU = {
    "idle": ("0.087", "0.30", "0.13"),
    "busy": ("0.157", "0.35", "0.80"),
    "execs": ("13.8", "6.9", "3.1"),
    "forks": ("8.7", "4.4", "1.7"),
}

# moment of own_cost.py -> MiB as the control group counts it.
MEMORY = {
    "after the start": ("91 to 100", "86 to 97", "99 to 116"),
}

# frames -> us of BPF a sample at 99 Hz.
SAMPLE = {12: ("5.2", "18 to 29", "18 to 29"), 60: ("8.2", "37 to 44", "37 to 44")}


# What start_cost.py and table_time.py measure, only for profd as it was then.
START = {"first_sample": "800", "start_cpu": "1.4", "answer": "100"}
TABLES = {"large": "490", "crowd": "5 to 11"}


def columns(table, key):
    return [value or "-" for value in table.get(key, (None, None, None))]
