# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The reader process of names: what it may do, and the effects of its end and of hostile files."""

import concurrent.futures
import contextlib
import os
import random
import signal
import time

import daemon
import elf_file
import reader_process
from proc_files import children, fields
from workload import Workload, workload_path

BESIDE = True
DAMAGED, SEED = 30, 7


class NamesProcess(reader_process.NamesReader):
    def test_it_ends_with_the_daemon(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how.name), daemon.Daemon(hz=reader_process.HZ) as server, Workload("victim"):
                server.profile("seconds=1")
                started = children(server.pid)
                self.assertTrue(started)
                server.stop(how)
                end = time.monotonic() + 5
                while any(os.path.exists(f"/proc/{pid}") for pid, _, _ in started):
                    self.assertLess(time.monotonic(), end, started)
                    time.sleep(0.02)

    def test_the_daemon_ends_while_it_is_asked(self):
        self.read_program(1)
        pid = self.reader_pid()
        os.kill(pid, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            second = self.victim(2)
            answer = pool.submit(self.server.get, f"/profile?seconds=1&pid={second.pid}")
            time.sleep(2)
            self.assert_all_end([pid])
            self.assertEqual(answer.result().status, 503)

    def test_killed_during_a_profile(self):
        first = self.read_program(1)
        second = self.victim(2)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(self.server.profile, "seconds=2")
            time.sleep(1)
            os.kill(self.reader_pid(), signal.SIGKILL)
            self.assertGreater(answer.result().total(), 0)
        third = self.victim(3)
        profile = self.server.profile("seconds=2")
        for number, process in enumerate((first, second, third), 1):
            self.assert_lines(profile, process, number)
        self.assert_no_zombie()
        self.assertGreaterEqual(self.server.metrics()["profd_names_starts_total"], 2)

    def test_killed_while_it_is_asked(self):
        """The file that is being read at that moment may lose its lines; no other file does."""
        self.victim(1)
        self.server.profile("seconds=1")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(self.server.get, "/profile?seconds=2")
            end = time.monotonic() + 3
            while not answer.done() and time.monotonic() < end:
                for pid, name, _ in children(self.server.pid):
                    if name == self.process_name and time.monotonic() > end - 1.2:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
            self.assertEqual(answer.result().status, 200)
        self.read_program(4)
        self.assert_no_zombie()

    def test_hostile_files(self):
        """The programs run well, but their symbols or debug information are damaged at random."""
        rng = random.Random(SEED)
        sound, damaged = self.victim(5), {}
        for number in range(DAMAGED):
            path = f"{self.folder}/damaged{number}"
            what = elf_file.damage(workload_path("names/cc-dwarf5"), path, rng)
            damaged[self.running.enter_context(Workload(path)).pid] = what
        pid = self.server.pid
        for _ in range(2):
            answer = self.server.get("/profile?seconds=3", timeout=120)
            self.assertEqual(answer.status, 200, answer.body[:200])
            self.assertLess(answer.seconds, 3 + 20, self.server.metrics())
            profile = self.server.profile("last=5s")
            self.assert_lines(profile, sound, 5)
            seen = {sample.labels["pid"] for sample in profile.samples}
            self.assertEqual({what for process, what in damaged.items() if process not in seen}, set())
            for frames in profile.frames.values():
                self.assertTrue(frames and all(frame.name for frame in frames))
        self.assertTrue(self.server.alive())
        self.assertEqual(self.server.pid, pid)
        self.assert_no_zombie()
        self.assertEqual(fields(pid, "status")["Name"], "profd")
