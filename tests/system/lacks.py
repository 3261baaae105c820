# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests that need what not every host has. Where COMPLETE is set, a host that lacks anything fails them."""

import os

_lacking = []


def host_lacks(what):
    """Records that a test returns without checking anything, because the host lacks `what`."""
    if os.environ.get("COMPLETE"):
        raise AssertionError(f"this host lacks {what}")
    _lacking.append(what)
    print(f"\n  this host lacks {what}: not looked at", end=" ")


def summary():
    """Returns a line for the end of the run, or an empty string."""
    return f"looked at nothing: {len(_lacking)} ({', '.join(sorted(set(_lacking)))})\n" if _lacking else ""
