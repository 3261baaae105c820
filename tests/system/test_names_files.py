# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Names come from the file that a process has mapped, whatever is under its path now, on the host or in a container.

The programs are copies of tests/workloads/victim*, each with another function name.
"""

import concurrent.futures
import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import daemon
import elf_file
from lacks import host_lacks
from workload import Workload, workload_path

BESIDE = True
HZ = 499
SPINS = re.compile(r"^victim_spins_(\d\d)$")
SOURCES = os.path.join(daemon.ROOT, "tests/workloads")


def spins(number):
    return f"victim_spins_{number:02}"


def victim(path, number, source="victim"):
    return elf_file.renamed(workload_path(source), path, spins(0), spins(number))


class VictimTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)
        self.server = self.running.enter_context(daemon.Daemon(hz=HZ))

    def run_program(self, *command, **options):
        return self.running.enter_context(Workload(*command, **options))

    def profile(self, query="seconds=2"):
        return self.server.profile(query)

    def assert_spins(self, profile, pid, number, source="victim.c"):
        """Asserts that a process's time is all in one function, with the name and lines of the file that it ran."""
        right, others = 0, []
        for sample in profile.samples:
            if sample.labels["pid"] != pid or sample.mappings[0].startswith("[kernel"):
                continue
            frame = next((f for loc in sample.locations for f in profile.frames[loc] if SPINS.match(f.name)), None)
            if frame is None:
                others.append(sample)
                continue
            self.assertEqual(frame.name, spins(number))
            self.assertEqual(frame.file, os.path.join(SOURCES, source))
            self.assertTrue(self.is_inside(source, frame), frame)
            right += sample.count
        self.assertGreater(right, 0, others[:5])
        self.assertLessEqual(sum(s.count for s in others), 1 + 0.02 * right, others[:5])

    def is_inside(self, source, frame):
        with open(os.path.join(SOURCES, source), encoding="ascii") as text:
            lines = text.readlines()
        start = next(i for i, line in enumerate(lines, 1) if f"{spins(0)}(" in line and "static" in line)
        end = next(i for i, line in enumerate(lines, 1) if i > start and line == "}\n")
        return start <= frame.start_line <= start + 1 and start <= frame.line <= end


class Replaced(VictimTest):
    def test_a_program_replaced_while_it_runs(self):
        path = victim(f"{self.folder}/program", 1)
        old = self.run_program(path)
        os.rename(victim(f"{self.folder}/new", 2), path)
        new = self.run_program(path)
        profile = self.profile()
        self.assert_spins(profile, old.pid, 1)
        self.assert_spins(profile, new.pid, 2)

    def test_a_program_replaced_after_it_was_named(self):
        path = victim(f"{self.folder}/program", 3)
        old = self.run_program(path)
        self.assert_spins(self.profile(), old.pid, 3)
        os.rename(victim(f"{self.folder}/new", 4), path)
        new = self.run_program(path)
        profile = self.profile()
        self.assert_spins(profile, old.pid, 3)
        self.assert_spins(profile, new.pid, 4)

    def test_deleted_and_never_on_a_disk(self):
        deleted = self.run_program(victim(f"{self.folder}/deleted", 5))
        os.unlink(f"{self.folder}/deleted")

        with tempfile.TemporaryDirectory(dir="/dev/shm") as shared:
            in_memory = self.run_program(victim(f"{shared}/program", 6))

        fd = os.memfd_create("program", 0)
        self.addCleanup(os.close, fd)
        os.write(fd, elf_file.renamed_bytes(workload_path("victim"), spins(0), spins(7)))
        nameless = self.run_program(f"/proc/self/fd/{fd}", pass_fds=(fd,))

        profile = self.profile()
        self.assert_spins(profile, deleted.pid, 5)
        self.assert_spins(profile, in_memory.pid, 6)
        self.assert_spins(profile, nameless.pid, 7)

    def test_exited_and_deleted_before_anyone_asked(self):
        gone = self.run_program(victim(f"{self.folder}/gone", 8), 1)
        gone.output()
        os.unlink(f"{self.folder}/gone")
        time.sleep(2)
        self.assert_spins(self.server.profile("last=30s"), gone.pid, 8)


def hang(path):
    """Makes open() of the file wait, as a server of files that is gone does, until the returned descriptor is closed. Returns None
    where the kernel cannot."""
    class_content, mark_add, open_perm, at_fdcwd = 0x4, 0x1, 0x10000, -100
    libc = ctypes.CDLL(None, use_errno=True)
    listener = libc.fanotify_init(class_content, os.O_RDONLY | os.O_CLOEXEC)
    if listener < 0:
        return None
    if libc.fanotify_mark(listener, mark_add, ctypes.c_uint64(open_perm), at_fdcwd, os.fsencode(path)):
        os.close(listener)
        return None
    return listener


class Hanging(VictimTest):
    def stripped(self, number):
        """A program whose symbols are in a debug file beside it."""
        path = victim(f"{self.folder}/stripped{number}", number)
        subprocess.run(["objcopy", "--only-keep-debug", path, f"{path}.debug"], check=True)
        subprocess.run(["strip", "--remove-section=.gnu_debuglink", path], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={path}.debug", path], check=True)
        return path

    def test_a_debug_file_that_hangs(self):
        slow, fast = self.stripped(21), self.stripped(22)
        listener = hang(f"{slow}.debug")
        if listener is None:
            host_lacks("fanotify, by which files hang")
            return
        self.running.callback(os.close, listener)
        hung = self.run_program(slow)
        others = [self.run_program(fast), self.run_program(victim(f"{self.folder}/whole", 23))]
        for _ in range(2):
            begun = time.monotonic()
            profile = self.profile()
            self.assertLess(time.monotonic() - begun, 20)
            self.assertIn("names of 1 files are not ready yet: ask again later", profile.comments)
            self.assert_spins(profile, others[0].pid, 22)
            self.assert_spins(profile, others[1].pid, 23)
            self.assertGreater(sum(s.count for s in profile.samples if s.labels["pid"] == hung.pid), 0)


class Namespaces(VictimTest):
    """The same path is another file in each namespace."""

    LIBRARY = "/victim/victim.so"
    BIND = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'

    def mounted(self, number, at):
        """Runs a process in which a separate folder is mounted at the path `at`."""
        folder = f"{self.folder}/mounted{number}"
        os.mkdir(folder)
        victim(f"{folder}/victim.so", number, "victim_plugin.so")
        return self.run_program(
            shutil.which("unshare"), "--mount", "sh", "-c", self.BIND, "sh", folder, at,
            workload_path("victim_loads"), f"{at}/victim.so",
        )

    def rooted(self, number):
        """Runs a process with its own root folder."""
        root = f"{self.folder}/root{number}"
        os.makedirs(root + os.path.dirname(self.LIBRARY))
        loader = workload_path("victim_loads")
        shutil.copy(loader, root)
        needed = subprocess.run(["ldd", loader], check=True, capture_output=True, text=True).stdout
        for path in re.findall(r"(/\S+) \(", needed):
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
        victim(root + self.LIBRARY, number, "victim_plugin.so")
        return self.run_program(shutil.which("chroot"), root, "/victim_loads", self.LIBRARY)

    def test_mount_namespaces_and_root_folders(self):
        at = f"{self.folder}/at"
        os.mkdir(at)
        running = {number: self.mounted(number, at) for number in (11, 12)}
        running.update({number: self.rooted(number) for number in (13, 14)})
        profile = self.profile("seconds=3")
        for number, process in running.items():
            with self.subTest(number):
                self.assert_spins(profile, process.pid, number, "victim_plugin.c")


class History(VictimTest):
    PROGRAMS, RUNS, CPU_SECONDS = 20, 300, 0.025

    def test_hundreds_of_short_lived_processes(self):
        paths = [victim(f"{self.folder}/copy{number:02}", number) for number in range(self.PROGRAMS)]

        def run(i):
            subprocess.run(
                [paths[i % self.PROGRAMS], str(self.CPU_SECONDS)], check=True, stdout=subprocess.DEVNULL
            )

        with concurrent.futures.ThreadPoolExecutor(daemon.CPUS) as pool:
            list(pool.map(run, range(self.RUNS)))
        for path in paths:
            os.unlink(path)
        time.sleep(1)
        profile = self.server.profile("last=1m")

        samples = [s for s in profile.samples if re.fullmatch(r"copy\d\d", s.labels.get("comm", ""))]
        total = sum(sample.count for sample in samples)
        self.assertGreater(total, 0.5 * self.RUNS * self.CPU_SECONDS * HZ)
        self.assertGreater(len({sample.labels["pid"] for sample in samples}), 0.9 * self.RUNS)
        named = 0
        for sample in samples:
            number = sample.labels["comm"][-2:]
            for location in sample.locations:
                _, _, mapping = profile.locations[location]
                if mapping and profile.mappings[mapping]["file"].startswith(self.folder):
                    for frame in profile.frames[location]:
                        self.assertFalse(frame.name.startswith("["), f"{number}: {frame}")
                        if SPINS.match(frame.name):
                            self.assertEqual(frame.name, f"victim_spins_{number}")
                            self.assertTrue(self.is_inside("victim.c", frame), frame)
                            named += sample.count
        # The other samples are in the dynamic linker and in the kernel.
        self.assertGreater(named, 0.5 * total)
