# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What /proc says of processes, the daemon's above all, and does for them."""

import contextlib
import os
import re
import signal
import time

NOBODY = 65534
FIRST_READER_USER = 2100000000  # of a daemon that is root, see daemon/reader/user.h


def fields(pid, file):
    """name -> the rest of the line, of a file of /proc/PID."""
    with open(f"/proc/{pid}/{file}", encoding="utf-8", errors="replace") as text:
        return dict(re.findall(r"^(.+?)(?::[ \t]*|[ \t]{2,})(.*)$", text.read(), re.M))


def children(pid):
    """(pid, name, state) of the processes that a process has started."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = fields(entry, "status")
            if status["PPid"] == str(pid):
                found.append((int(entry), status["Name"], status["State"][0]))
    return found


def assert_confined(test, pid):
    """A process that may do nothing but read what it is handed."""
    status = fields(pid, "status")
    users = {int(user) for ids in ("Uid", "Gid") for user in status[ids].split()}
    test.assertEqual(len(users), 1, status)
    test.assertIn(users.pop(), range(FIRST_READER_USER, FIRST_READER_USER + 1000))
    test.assertEqual(status["Groups"].split(), [])
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        test.assertEqual(int(status[capabilities], 16), 0, capabilities)
    test.assertEqual(status["NoNewPrivs"], "1")
    test.assertEqual(status["Seccomp"], "2", "a filter")
    limits = fields(pid, "limits")
    test.assertNotEqual(limits["Max data size"].split()[0], "unlimited")
    test.assertEqual(limits["Max core file size"].split()[:2], ["0", "0"])
    test.assertEqual(limits["Max file size"].split()[:2], ["0", "0"])
    test.assertEqual(os.readlink(f"/proc/{pid}/cwd"), "/")


def fork_with_pid(pid, child):
    """A process of that number, which runs `child` and then waits for its end; others may be faster."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as last:
            last.write(str(pid - 1))
        got = os.fork()
        if not got:
            child()
            while True:
                signal.pause()
        if got == pid:
            return
        os.kill(got, signal.SIGKILL)
        os.waitpid(got, 0)
    raise AssertionError(f"no process got the number {pid}")
