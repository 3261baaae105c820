# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The driver's functions: all addresses that programs get of those that profd watches are at symbols that it has probes for."""

from checking import judge, say
from program import Program


def driver_entries():
    program = Program("entries")
    program.ready()
    said = program.tell("entries")
    missed = said["not_probed"]
    judge("driver-entries", said["addresses"] > 0 and not missed, f"{said['addresses']} addresses of {said['names']} functions, "
          f"{len(missed)} at no symbol of profd's list, in a driver of CUDA {said['version']}")
    for row in missed:
        say("   not probed:", *row)
    say("   exported, of these kinds, not in daemon/cuda/calls.h:", *said["not_listed"])
    program.end()
