# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Reads /proc files of processes, above all the daemon's, and starts processes with a given ID."""

import contextlib
import os
import re
import signal
import time

NOBODY = 65534
FIRST_READER_USER = 2100000000  # where the daemon runs as root, see daemon/reader/user.h


def fields(pid, file):
    """Returns name -> the rest of the line, of a file of /proc/PID."""
    with open(f"/proc/{pid}/{file}", encoding="utf-8", errors="replace") as text:
        return dict(re.findall(r"^(.+?)(?::[ \t]*|[ \t]{2,})(.*)$", text.read(), re.M))


def children(pid):
    """Returns (pid, name, state) of a process's children."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = fields(entry, "status")
            if status["PPid"] == str(pid):
                found.append((int(entry), status["Name"], status["State"][0]))
    return found


def is_ending(pid):
    """Whether a process was killed or has ended; on busy CPUs a killed process may run for seconds before it is a zombie."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        status = fields(pid, "status")
        return "VmSize" not in status or bool(int(status["SigPnd"], 16) & 1 << signal.SIGKILL - 1)
    return True


def assert_confined(test, pid):
    """Asserts that a process may do nothing but read the descriptors that it is given."""
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
    """Starts a process with this process ID, which runs `child` and then waits to be killed. Retries when others take the ID."""
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
