# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The messages to the service manager, read from a socket in its place: sd_notify(3), sd_watchdog_enabled(3)."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from daemon import CPUS, HZ, Daemon

LANE = "readers"

# profd reports four times in this time, and drains once a second.
WATCHDOG_SECONDS = 8
GAP = WATCHDOG_SECONDS / 4
# The interval of drains, and the delay that a loaded machine may add.
TURN, LATE = 1, 20

SO_TIMESTAMPNS = 35  # asm-generic/socket.h


class Manager:
    """Listens in place of the service manager, and starts a daemon that reports to it."""

    def __init__(self, running, *options, watchdog=True):
        folder = running.enter_context(tempfile.TemporaryDirectory())
        self.settings = os.path.join(folder, "profd.conf")
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write("verbose = no\n")
        path = os.path.join(folder, "notify")
        self.socket = running.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind(path)
        self.told = None  # when the latest message was sent, which may be before it is read
        through = ["env", f"NOTIFY_SOCKET={path}"]
        if watchdog:
            through.append(f"WATCHDOG_USEC={WATCHDOG_SECONDS * 1000000}")
        self.daemon = running.enter_context(Daemon("--config", self.settings, *options, through=through))

    def hear(self, seconds=30):
        """Returns the next message as a dict, or None."""
        self.socket.settimeout(seconds)
        try:
            text, [(_, _, stamp)], _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(16))
        except (TimeoutError, socket.timeout):
            return None
        seconds, nanoseconds = struct.unpack("ll", stamp)
        self.told = seconds + nanoseconds / 1e9
        return dict(line.split("=", 1) for line in text.decode().split("\n"))

    def hear_of(self, name, seconds=30):
        """Returns the next message that has a field of that name, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.hear(end - time.monotonic())
            if message and name in message:
                return message
        return None

    def forget(self):
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.socket.recv(4096)


class Service(unittest.TestCase):
    def setUp(self):
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)

    def test_it_says_when_it_is_ready_how_it_does_and_when_it_stops(self):
        manager = Manager(self.running, watchdog=False)
        self.assertEqual(manager.hear(), {"READY": "1"})
        status = manager.hear_of("STATUS")["STATUS"]
        self.assertRegex(status, rf"^{HZ} Hz, {CPUS} CPUs?, \d+\.\d % of a core, history 10m \(\d+ MiB\)$")
        self.assertEqual(manager.daemon.stop()[0], 0)
        self.assertEqual(manager.hear_of("STOPPING"), {"STOPPING": "1"})
        # No watchdog was requested.
        self.assertIsNone(manager.hear_of("WATCHDOG", 0.1))

    def test_the_status_tells_what_is_set(self):
        manager = Manager(self.running, "--freq", "49", "--history", "90s")
        self.assertRegex(manager.hear_of("STATUS")["STATUS"], r"^49 Hz, .* history 90s ")

    def test_it_says_when_it_reads_its_settings_again(self):
        manager = Manager(self.running, watchdog=False)
        manager.hear_of("STATUS")
        for text in ("verbose = yes\n", "nonsense\n"):
            with open(manager.settings, "w", encoding="utf-8") as file:
                file.write(text)
            before = time.monotonic_ns() // 1000
            manager.daemon.process.send_signal(signal.SIGHUP)
            message = manager.hear_of("RELOADING")
            self.assertEqual(message["RELOADING"], "1")
            self.assertTrue(before <= int(message["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000)
            self.assertEqual(manager.hear(), {"READY": "1"})

    def test_the_watchdog_hears_of_it_four_times(self):
        manager = Manager(self.running)
        self.assertTrue(manager.hear_of("WATCHDOG"))
        begin = manager.told
        for _ in range(2):
            self.assertTrue(manager.hear_of("WATCHDOG"))
        took = manager.told - begin
        self.assertTrue(2 * GAP - TURN < took < 2 * GAP + LATE, took)

    def test_the_watchdog_hears_nothing_when_nothing_is_drained(self):
        manager = Manager(self.running)
        self.assertTrue(manager.hear_of("WATCHDOG"))
        self.freeze(manager.daemon)
        errors = "profd_drain_errors_total"
        before = manager.daemon.metrics()[errors]
        manager.forget()
        self.assertIsNone(manager.hear_of("WATCHDOG", GAP + 2 * TURN))
        # The loop still runs, its timers tick, and it answers.
        self.assertGreater(manager.daemon.metrics()[errors], before)
        self.assertTrue(manager.daemon.alive())

    def freeze(self, profd):
        """Freezes the map `counters`, the only one of this name, in the kernel. No process can write to it, so drains fail."""
        listed = subprocess.run(["bpftool", "-j", "map", "list"], check=True, capture_output=True).stdout
        own = profd.bpf_ids()["map"]
        ids = [entry["id"] for entry in json.loads(listed) if entry["id"] in own and entry.get("name") == "counters"]
        self.assertEqual(len(ids), 1)
        subprocess.run(["bpftool", "map", "freeze", "id", str(ids[0])], check=True)

    def test_the_watchdog_hears_of_it_right_after_a_stop(self):
        manager = Manager(self.running)
        self.assertTrue(manager.hear_of("WATCHDOG"))
        self.running.callback(os.kill, manager.daemon.pid, signal.SIGCONT)
        os.kill(manager.daemon.pid, signal.SIGSTOP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(manager.daemon.pid, os.WUNTRACED)[1]))
        manager.forget()
        # The pause is longer than the time between two messages, so one is overdue.
        self.assertIsNone(manager.hear_of("WATCHDOG", GAP + TURN))
        os.kill(manager.daemon.pid, signal.SIGCONT)
        self.assertTrue(manager.hear_of("WATCHDOG", LATE))


if __name__ == "__main__":
    unittest.main()
