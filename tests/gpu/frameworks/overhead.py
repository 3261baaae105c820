# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How long a launch or a step of training takes without the daemon and with it. Printed, not compared."""

import time

from checking import say
from gpu_runs import until
from profiles import has_probes, running
from warm_up import warm_up

ROUNDS = 3


def spins(program, times=20000):
    """Nanoseconds a launch."""
    return program.tell("spin", times)["ns"]


def steps(program, seconds=3):
    """Nanoseconds a step of training."""
    said = program.tell("train", seconds)
    return [1e9 * said["seconds"] / said["steps"]]


def overhead(program, what, measure):
    program.ready()
    rows = {False: [], True: []}
    measure(program)
    for _ in range(ROUNDS):
        time.sleep(1.5)  # the helper looks twice a second whether a daemon listens
        rows[False] += measure(program)
        with running(f"beside-{program.label}") as server:
            until(lambda: has_probes(server), 15)
            measure(program)
            warm_up(server, 6)
            time.sleep(1)
            rows[True] += measure(program)
    off, on = (sorted(rows[state]) for state in (False, True))
    middle = [row[len(row) // 2] for row in (off, on)]
    more = middle[1] - middle[0]
    say(f"{program.label}: {what} takes {middle[0]:.0f} ns without profd, {middle[1]:.0f} ns with it: {more:+.0f} ns, "
        f"{100 * more / middle[0]:+.1f} %; quickest {off[0]:.0f} and {on[0]:.0f}; "
        f"without {[round(ns) for ns in rows[False]]}, with {[round(ns) for ns in rows[True]]}")
    program.end()
