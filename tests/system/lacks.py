# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of what not every host has. Where COMPLETE is set all of it must be there."""

import os

_lacking = []


def host_lacks(what):
    """Said of a test that looks at nothing for want of this; then it returns."""
    if os.environ.get("COMPLETE"):
        raise AssertionError(f"this host lacks {what}")
    _lacking.append(what)
    print(f"\n  this host lacks {what}: not looked at", end=" ")


def summary():
    """A line for the end, or nothing."""
    return f"looked at nothing: {len(_lacking)} ({', '.join(sorted(set(_lacking)))})\n" if _lacking else ""
