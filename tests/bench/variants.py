# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is compared: no profiler, this build of profd, others, and settings, as VARIANTS names them.

  VARIANTS="off; on"                                    without it and with it; the default
  VARIANTS="off; floor; hooks; on"                      and what the kernel's records alone cost, and its hooks
  VARIANTS="off; old = ../main/build/profd; new"        two builds
  VARIANTS="off; on; fast = --freq 999"                 two settings
  VARIANTS="off; quick = FOO=1 build-quick/profd --freq 49"

Each is a name and, after a "=", words: variables of the environment, the program, options of `profd serve`, in that
order, all of which may be left out. "off" is nothing at all. "floor" is records_floor: the kernel's records of
mappings and tasks, which nobody reads; no profiler that names short processes costs less. "hooks" is the same with a BPF
program that does nothing wherever profd has one by default (HOOKS). The first is what the others are compared with. Paths
are relative to where the bench was started.
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

# bpftool link list
HOOKS = ("sched_switch", "sched_process_exec", "sched_process_exit", "mm_page_alloc_zone_locked", "mark_victim")
FLOORS = {"floor": (), "hooks": ("hooks", "99", *HOOKS)}
SETTLED_SECONDS = 1.5  # after its start: what runs has its tables, and nothing of a start is left

Variant = collections.namedtuple("Variant", "name environment program options")


class CountedDaemon(Daemon):
    """A daemon in a control group of its own, which counts its reader processes as well; at the defaults."""

    def __init__(self, variant, group):
        self.group = group
        # What Daemon starts ends in its own build of profd, whose place another one takes.
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
    """A CountedDaemon; None of "off" and of floors."""
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
