# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files that a program's debug information names, such as .dwo files, may be hostile: no other program waits for them."""

import os
import subprocess

import reader_process
from workload import Workload

BESIDE = True
SOURCE = os.path.join(os.path.dirname(__file__), "..", "workloads", "victim.c")
QUICK = 10  # seconds; a missed deadline takes 30


class SplitDwarf(reader_process.NamesReader):
    def split_victim(self):
        """Builds a program whose lines are in a .dwo file; returns the paths of both."""
        path = f"{self.folder}/split"
        subprocess.run(["gcc", "-O2", "-g", "-gsplit-dwarf", "-fno-omit-frame-pointer", "-o", path, SOURCE,
                        "-I", os.path.dirname(SOURCE)], check=True, cwd=self.folder)
        dwo, = (f"{self.folder}/{name}" for name in os.listdir(self.folder) if name.endswith(".dwo"))
        return path, dwo

    def frames(self, process):
        profile = self.server.profile(f"seconds=1&pid={process.pid}")
        return [frame for sample in profile.samples for location in sample.locations
                for frame in profile.frames[location]]

    def test_of_a_regular_file_lines_are_read(self):
        path, _ = self.split_victim()
        with Workload(path) as process:
            self.assertTrue(any(frame.name == "victim_spins_00" and frame.line for frame in self.frames(process)))

    def test_a_fifo_is_waited_for_by_nobody(self):
        path, dwo = self.split_victim()
        os.unlink(dwo)
        os.mkfifo(dwo)
        innocent = self.victim(1)
        with Workload(path) as process:
            answer = self.server.get("/profile?seconds=1", timeout=120)
            self.assertEqual(answer.status, 200)
            self.assertLess(answer.seconds, QUICK)
            # The name comes from the program itself.
            self.assertTrue(any(frame.name == "victim_spins_00" for frame in self.frames(process)))
        self.assert_lines(self.server.profile(f"seconds=1&pid={innocent.pid}"), innocent, 1)
        after = self.server.metrics()
        self.assertEqual(after["profd_names_crashes_total"], 0)
        self.assertEqual(after["profd_names_files_failed_total"], 0)

    def test_another_users_file_says_nothing(self):
        """A .dwo file of another user is not read: the program is root's, but any user may be able to create its .dwo file."""
        path, dwo = self.split_victim()
        os.chown(dwo, 1234, 1234)
        with Workload(path) as process:
            frames = self.frames(process)
        self.assertTrue(any(frame.name == "victim_spins_00" for frame in frames))
        self.assertFalse(any(frame.name == "victim_spins_00" and frame.start_line for frame in frames))
