# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The variants that a bench compares: no profiler, this build of profd, other builds, and settings, as VARIANTS names them.

  VARIANTS="off; on"                                    without profd and with it; the default
  VARIANTS="off; floor; hooks; on"                      also the cost of the kernel's records alone, and of its hooks
  VARIANTS="off; old = ../main/build/profd; new"        two builds
  VARIANTS="off; on; fast = --freq 999"                 two settings
  VARIANTS="off; quick = FOO=1 build-quick/profd --freq 49"

Each variant is a name and, after a "=", words: environment variables, the program, options of `profd serve`, in that order;
all of them are optional. "off" runs nothing. "floor" runs records_floor: the kernel makes its records of mappings and tasks,
and no process reads them; a profiler that names short-lived processes cannot cost less. "hooks" is the same with an empty BPF
program on every hook that profd uses by default (HOOKS). The other variants are compared with the first one. Paths are
relative to the working directory of the bench.
"""

import collections
import contextlib
import os
import re
import shlex
import time

from control_group import ControlGroup
from daemon import PROFD, Daemon
from workload import Workload

# The names are those of `bpftool link list`.
HOOKS = ("sched_switch", "sched_process_exec", "sched_process_exit", "mm_page_alloc_zone_locked", "mark_victim")
FLOORS = {"floor": (), "hooks": ("hooks", "99", *HOOKS)}
SETTLED_SECONDS = 1.5  # after a start: the running programs have their tables, and the work of the start is over

Variant = collections.namedtuple("Variant", "name environment program options")


class CountedDaemon(Daemon):
    """A daemon in its own control group, which includes its reader processes; at the defaults."""

    def __init__(self, variant, group):
        self.group = group
        # The command that Daemon builds ends in this build's profd; the script puts the variant's program in its place.
        instead = ["sh", "-c", 'program=$1; shift 2; exec "$program" "$@"', "sh", variant.program]
        super().__init__(*variant.options, through=group.joined(["env", *variant.environment, *instead]))


def parse(text):
    variants = []
    for part in filter(str.strip, text.split(";")):
        name, _, rest = part.partition("=")
        name, words = name.strip(), shlex.split(rest)
        environment = []
        while words and re.match(r"\w+=", words[0]):
            environment.append(words.pop(0))
        program = os.path.abspath(words.pop(0)) if words and not words[0].startswith("-") else PROFD
        if not re.fullmatch(r"[\w.+-]+", name):
            raise ValueError(f"not a name of a variant: {name!r}")
        if not os.access(program, os.X_OK):
            raise ValueError(f"{name}: no program {program}")
        variants.append(Variant(name, environment, program, words))
    if len({variant.name for variant in variants}) < len(variants) or not variants:
        raise ValueError("VARIANTS wants names that differ, with ; between them")
    return variants


@contextlib.contextmanager
def started(variant, settled=SETTLED_SECONDS):
    """Yields a CountedDaemon, or None for "off" and the floors."""
    if variant.name == "off":
        yield None
        return
    if variant.name in FLOORS:
        with Workload("records_floor", *FLOORS[variant.name]):
            yield None
        return
    with ControlGroup(variant.name) as group, CountedDaemon(variant, group) as daemon:
        time.sleep(settled)
        yield daemon
