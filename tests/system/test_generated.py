# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Code that programs generate, and of which they tell in /tmp/perf-PID.map."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import daemon
from daemon import BUILD
from heap_runs import until
from lacks import host_lacks
from pprof import pprof, top_shares
from profile_pb import Profile, sigmas
from pythons import pythons
from workload import Workload, spend, wait_used

BESIDE = True

SHARES = (("hot60", 60), ("int Some::hot30(char const*, int)", 30), ("hot10", 10))
DUMP_SHARES = (("hot60", 60), ("hot30", 30), ("hot10", 10))
NOBODY = 65534


class Generated(Workload):
    """A running workloads/generated, whose map is removed at the end."""

    def __exit__(self, *unused):
        super().__exit__(*unused)
        if os.path.exists(self.map):
            os.remove(self.map)

    @property
    def map(self):
        return f"/tmp/perf-{self.pid}.map"


def names_of(profile):
    return {name for sample in profile.samples for name in sample.names}


class Maps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def check_shares(self, profile, shares=SHARES):
        self.assertGreater(profile.total(), 2 * daemon.HZ)
        for name, share in shares:
            found = profile.total(where=lambda sample, name=name: name in sample.names)
            self.assertAlmostEqual(100 * found / profile.total(), share, delta=max(4, sigmas(share, profile.total())), msg=name)
        # Samples may be older than profd's knowledge of the program's mappings: on busy CPUs, 36 of 346.
        whole = profile.total(where=lambda sample: sample.names[0] in dict(shares) and sample.names[1] == "outer"
                              and "main" in sample.names)
        self.assertGreater(whole, 0.85 * profile.total())
        for sample in profile.samples:
            if sample.names[0] in dict(shares):
                self.assertTrue(sample.names[1] == "outer" or sample.names[1].startswith("[unknown: "), sample.names)

    def test_what_generates_it(self):
        """By the file: a program of this name is taken for Node."""
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            node = shutil.copy(os.path.join(BUILD, "workloads", "generated"), os.path.join(folder, "node"))
            with Generated(node, "shares") as named, Generated("generated", "shares") as other:
                time.sleep(2)
                profile = self.daemon.profile(f"seconds=2&pid={named.pid}&pid={other.pid}")
        for program, runtime in ((named, "node"), (other, None)):
            runtimes = {sample.labels.get("runtime") for sample in profile.samples if sample.labels["pid"] == program.pid}
            self.assertEqual(runtimes, {runtime})

    def test_a_jitdump(self):
        """With the lines of its code, also once the program has ended and its folder is gone."""
        start = time.time()
        with tempfile.TemporaryDirectory() as folder, Workload("generated", "dump", cwd=folder) as program:
            wait_used(program, 3)
        time.sleep(8)
        profile = self.daemon.profile(f"from={start:.3f}&pid={program.pid}")
        self.check_shares(profile, DUMP_SHARES)
        self.assertNotIn("[jit]", names_of(profile))
        lines = {(frame.name, frame.file, frame.line) for frames in profile.frames.values() for frame in frames
                 if frame.name.startswith("hot")}
        self.assertEqual(lines, {(f"hot{number}", "/srv/dump.c", number) for number in (60, 30, 10)})

    def test_shares_from_the_first_sample_on(self):
        """Of a program with a /tmp and a number of its own, also when profd has removed it, once it has ended, from its process
        table."""
        # The build may be in /tmp itself.
        script = f"mount --bind {BUILD}/workloads /mnt && mount -t tmpfs none /tmp && exec /mnt/generated shares"
        start = time.time()
        with Workload("/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c", script) as outer:
            with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="ascii") as children:
                pid = int(children.read().split()[0])
            self.assertFalse(os.path.exists("/tmp/perf-1.map"))
            spend([pid], 4, 4)
        time.sleep(8)
        answer = self.daemon.get(f"/profile?from={start:.3f}&pid={pid}")
        profile = Profile(answer.body)
        self.check_shares(profile)
        self.assertNotIn("[jit]", names_of(profile))
        frames = {frame.name: frame for lines in profile.frames.values() for frame in lines}
        self.assertEqual(frames["hot60"].file, "/srv/with space/app.js")
        self.assertEqual(frames["hot60"].start_line, 7)
        self.assertEqual(frames["hot10"].file, "")
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(answer.body)
            file.flush()
            shares = top_shares(pprof("-top", file.name))
        self.assertAlmostEqual(shares["hot60"][1], 60, delta=max(4, sigmas(60, profile.total())))

    def test_a_map_that_is_written_later(self):
        """As `jcmd PID Compiler.perfmap` does; the file that was there before belongs to an earlier process."""
        start = time.time()
        with Generated("generated", "forged") as program:
            wait_used(program, 1)
            names = names_of(self.daemon.profile(f"from={start:.3f}&pid={program.pid}"))
            self.assertIn("[jit]", names)
            self.assertNotIn("of_another_process", names)
            os.kill(program.pid, signal.SIGUSR1)
            self.assertTrue(until(lambda: "hot60" in names_of(self.daemon.profile(f"last=10s&pid={program.pid}")), 60))
            wait_used(program, 2)
            profile = self.daemon.profile(f"from={start:.3f}&pid={program.pid}")
        self.check_shares(profile)
        self.assertNotIn("[jit]", names_of(profile), "what was sampled before is named as well")

    def test_code_that_replaces_other_code(self):
        start = time.time()
        with Generated("generated", "replaced") as program:
            wait_used(program, 8, 240)
            profile = self.daemon.profile(f"from={start:.3f}&pid={program.pid}")
        by_caller = {"even": 0, "odd": 0, "nameless": 0}
        for sample in profile.samples:
            for callee, caller in zip(sample.names, sample.names[1:]):
                if caller not in ("even", "odd"):
                    continue
                if callee.startswith("[jit"):
                    by_caller["nameless"] += sample.count
                    continue
                self.assertTrue(callee.startswith(caller + "_"), sample.names)
                by_caller[caller] += sample.count
        self.assertGreater(min(by_caller["even"], by_caller["odd"]), 20, by_caller)
        self.assertGreater(self.daemon.json("/status")["jit"]["replaced"], 0)

    def test_files_that_are_not_the_programs_own(self):
        """Links, a FIFO, a folder, and a file of another user are not read."""
        programs = []
        for make in (lambda path, _: os.symlink("/etc/shadow", path), lambda path, _: os.mkfifo(path),
                     lambda path, _: os.mkdir(path), self.make_file_of_another, self.make_link_to_own):
            program = Workload("generated", "late", 60, user=NOBODY)
            self.addCleanup(program.__exit__)
            path = f"/tmp/perf-{program.pid}.map"
            with open(f"/proc/{program.pid}/maps", encoding="utf-8") as maps:
                code = next(line.split("-")[0] for line in maps if " rwxp " in line)
            make(path, code)
            self.addCleanup(shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.remove, path)
            programs.append(program)
        query = spend([program.pid for program in programs], 0.5, 3)
        for program in programs:
            names = names_of(self.daemon.profile(f"{query}&pid={program.pid}"))
            self.assertIn("[jit]", names)
            self.assertNotIn("of_root", names)

    @staticmethod
    def make_file_of_another(path, code):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{code} 1000 of_root\n")
        os.chown(path, 1, 1)

    def make_link_to_own(self, path, code):
        """Another user may have made it."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", delete=False) as file:
            file.write(f"{code} 1000 of_root\n")
        self.addCleanup(os.unlink, file.name)
        os.chown(file.name, NOBODY, NOBODY)
        os.symlink(file.name, path)

    def test_python_with_its_perf_trampoline(self):
        """From 3.12 on, -X perf adds a native frame for each Python function: they are left out."""
        python = next((python.path for python in pythons() if python.minor >= 12), None)
        if not python:
            host_lacks("a Python from 3.12 on")
            return
        script = "print('ready', flush=True)\ndef inner():\n    for i in range(10**6): pass\ndef outer():\n    while True: inner()\nouter()\n"
        process = subprocess.Popen([python, "-X", "perf", "-c", script], stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: os.path.exists(f"/tmp/perf-{process.pid}.map") and os.remove(f"/tmp/perf-{process.pid}.map"))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        self.assertTrue(until(lambda: "inner" in names_of(self.daemon.profile(f"last=3s&pid={process.pid}")), 60))
        time.sleep(2)
        profile = self.daemon.profile(f"last=1s&pid={process.pid}")
        for sample in profile.samples:
            names = [name for name in sample.names if name in ("inner", "outer")]
            self.assertLessEqual(len(names), 2, sample.names)
            self.assertFalse([name for name in sample.names if name.startswith("[jit")], sample.names)
