# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Prints each comparison, counts those that are right and wrong, and limits the time of a step."""

import atexit
import collections
import contextlib
import os
import shutil
import signal
import tempfile
import time
import traceback

# The folder for what a failure is explained with: profiles, and what the programs and the daemon write. KEEP=FOLDER keeps it.
KEPT = os.path.abspath(os.environ["KEEP"]) if os.environ.get("KEEP") else None
FOLDER = KEPT or tempfile.mkdtemp(prefix="profd-frameworks-")
os.makedirs(FOLDER, exist_ok=True)
if not KEPT:
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

MIB = 1 << 20
BEGAN = time.monotonic()
COUNTS = collections.Counter()
LACKING = []


def say(*words):
    print(f"[{time.monotonic() - BEGAN:5.1f}]", *words, flush=True)


def judge(name, well, text=""):
    COUNTS["ok" if well else "FAILED"] += 1
    say("ok" if well else "FAILED", name, text)
    return well


def compare(name, found, truth, tolerance=0.0, more=""):
    """The tolerance is a share of the truth."""
    well = truth is not None and abs(found - truth) <= tolerance * abs(truth)
    return judge(name, well, f"found {found}, truth {truth} {more}")


def lacks(what, why=""):
    """Reports something that this machine does not have, which is no failure."""
    LACKING.append(what)
    say(f"not here: {what}", f"({why})" if why else "")


def keep(name, data):
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


class Expired(Exception):
    """Not an OSError, after which some loops go on."""


@contextlib.contextmanager
def step(name, seconds):
    """A part with a limit of time. An error in it is a wrong comparison, and the next step follows."""
    def expired(*_):
        raise Expired(f"{seconds} s are over")
    say(f"--- {name}")
    signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except Exception as error:  # noqa: BLE001
        signal.setitimer(signal.ITIMER_REAL, 0)
        where = traceback.extract_tb(error.__traceback__)[-1]
        judge(name, False, f"{type(error).__name__}: {str(error)[-1500:]} ({os.path.basename(where.filename)}:{where.lineno})")
        keep(f"error-{name}.txt", traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
