# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Processes that run Python in other ways than `python3 script.py`: short ones, pools, other root folders, another version after
exec, Python inside a C program, and one that overwrites its own frames.
"""

import concurrent.futures
import glob
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
import unittest

import daemon
from lacks import host_lacks
from python_runs import PythonCase, rooted, running, shown
from pythons import SCRIPTS, name_of, pythons, script, system_python
from workload import Workload, wait_used

BESIDE = True
METHOD = ["<module>", "main", "Work.run", "Work.middle", "Work.sixty"]
SHORT_ONES = 12
SPOILERS = 5  # of each Python


def shared_python():
    """Returns a Python with a shared library, headers, and its own prefix, or None."""
    for python in reversed(pythons()):
        has_headers = os.path.exists(f"{python.prefix}/include/python{python.label}/Python.h")
        if python.prefix != "/usr" and has_headers and library_of(python):
            return python
    return None


def library_of(python):
    return next(iter(glob.glob(f"{python.prefix}/lib/libpython{python.label}*.so.1.0")), None)


def compile_embedded(python, path):
    t = "t" if python.free_threaded else ""
    folder = f"{python.prefix}/lib"
    subprocess.run(
        ["gcc", "-O1", f"-I{python.prefix}/include/python{python.label}{t}", f"{SCRIPTS}/embedded.c", "-o", path,
         f"-L{folder}", f"-Wl,-rpath,{folder}", f"-lpython{python.label}{t}"],
        check=True, capture_output=True, timeout=60,
    )


def copy_into(root, path):
    os.makedirs(root + os.path.dirname(path), exist_ok=True)
    shutil.copy(os.path.realpath(path), root + path)


def make_root(python, root):
    """Makes a root folder with only that Python, the files that it needs to start, and the scripts; returns the interpreter."""
    binary = f"{python.prefix}/bin/python{python.label}"
    extensions = glob.glob(f"{python.prefix}/lib/python{python.label}/lib-dynload/*.so")
    needed = subprocess.run(["ldd", binary, *extensions], capture_output=True, text=True, check=True).stdout
    for path in {binary, *re.findall(r"(/\S+\.so\S*) \(0x", needed)}:
        copy_into(root, path)
    folder = f"{python.prefix}/lib/python{python.label}"
    skipped = shutil.ignore_patterns("test", "tests", "site-packages", "__pycache__", "idlelib", "config-*")
    shutil.copytree(folder, root + folder, ignore=skipped)
    shutil.copytree(SCRIPTS, root + SCRIPTS)
    os.makedirs(f"{root}/proc")
    return binary


def at_once(commands):
    """Runs commands, a few at a time, and returns their pids. Their exit status does not matter, and may be a crash."""
    def run(argv):
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            return process.pid
    with concurrent.futures.ThreadPoolExecutor(daemon.CPUS) as pool:
        return set(pool.map(run, commands))


def children_seconds():
    """Returns the CPU time of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Processes(PythonCase):
    def look_at(self, workload, python, query="seconds=2", before="seconds=2"):
        """Returns the samples of a process that runs split.py, after checking that they are whole and right."""
        with daemon.Daemon(hz=499) as server:
            server.profile(before)
            type(self).profile = server.profile(f"{query}&pid={workload.pid}")
        samples = self.of(workload)
        self.assert_split(samples, python)
        return samples

    def assert_split(self, samples, python):
        self.assert_mostly(samples, lambda s: self.frames(s) and self.frames(s)[0].name == "<module>")
        self.assert_mostly(samples, rooted)
        chain = shown(python, METHOD)
        in_method = [s for s in samples if self.python_names(s)[:5] == chain]
        share = sum(s.count for s in in_method) / sum(s.count for s in samples)
        self.assertAlmostEqual(share, 0.6, delta=0.08)
        self.assertEqual({s.labels.get("runtime_version") for s in samples}, {python.label})

    def test_one_that_lives_for_300_ms(self):
        for python in {p.label: p for p in (pythons()[0], system_python(), pythons()[-1])}.values():
            with self.subTest(name_of(python)), daemon.Daemon(hz=499) as server:
                start, before = time.time(), children_seconds()
                pids = at_once([[python.path, script("short")]] * SHORT_ONES)
                truth = SHORT_ONES * 0.3 / (children_seconds() - before)
                type(self).profile = server.profile(f"from={start:.3f}")
                samples = [s for s in self.profile.samples if s.labels.get("pid") in pids]
                total = sum(s.count for s in samples)
                self.assertGreater(total, SHORT_ONES * 0.3 * 499 * 0.2)
                named = [s for s in samples if self.python_names(s)[:3] == ["<module>", "main", "short_lived"]]
                share = sum(s.count for s in named) / total
                print(f"\n  {name_of(python)}: {100 * share:.1f} % named of {100 * truth:.1f}", end=" ")
                # The others come before profd has read the file; the rest of the time starts and ends the interpreter.
                self.assertGreater(share / truth, 0.8)
                self.assertGreater(len({s.labels["pid"] for s in named}), SHORT_ONES * 0.6)

    def test_one_that_execs_another_version(self):
        first, second = pythons()[0], pythons()[-1]
        with daemon.Daemon(hz=499) as server:
            with Workload(first.path, script("execs"), 2, second.path) as workload:
                type(self).profile = server.profile(f"seconds=6&pid={workload.pid}")
        for name, python in (("before_exec", first), ("after_exec", second)):
            found = [s for s in self.profile.samples if name in self.python_names(s)]
            self.assertGreater(sum(s.count for s in found), 50, name)
            self.assertEqual({s.labels.get("runtime_version") for s in found}, {python.label})
            self.assert_has(found, ["<module>", name])
            mappings = {m for s in found for m in s.mappings if m.startswith("[python ")}
            self.assertEqual(mappings, {f"[python {python.label}]"})

    def test_one_in_another_root(self):
        python = shared_python()
        if python is None:
            host_lacks("a Python in a folder of its own")
            return
        with tempfile.TemporaryDirectory() as root:
            binary = make_root(python, root)
            with Workload("/usr/bin/unshare", "--mount", "chroot", root, binary, script("split")) as workload:
                self.look_at(workload, python)

    def test_inside_of_a_c_program_of_any_name(self):
        python = shared_python()
        if python is None:
            host_lacks("a Python with headers and a shared library")
            return
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/not-a-snake"
            compile_embedded(python, path)
            with Workload(path, script("split")) as workload:
                samples = self.look_at(workload, python)
        def between_c(sample):
            module = self.frames(sample)[0].at
            below = sample.names[module + 1:]
            return "runs_python" in below and below.index("runs_python") < below.index("main")
        self.assert_mostly(samples, between_c)

    def test_workers_of_a_pool_are_found_by_their_parent(self):
        last = pythons()[-1]
        commands = {
            (method, python): (python, "pool", method)
            for method in ("fork", "spawn") for python in {system_python(), last}
        }
        with running(commands, hz=499, attach_late=False) as (server, started):
            time.sleep(2)
            for (method, python), workload in started.items():
                with self.subTest(f"{method} {name_of(python)}"):
                    type(self).profile = server.profile(f"last=4s&pid={workload.pid}&children=1")
                    samples = self.profile.samples
                    workers = {s.labels["pid"] for s in samples if "pool_spins" in self.python_names(s)}
                    self.assertEqual(len(workers - {workload.pid}), 8)
                    found = [s for s in samples if "pool_spins" in self.python_names(s)]
                    self.assert_has(found, ["pool_task", "pool_spins"])
                    self.assert_mostly(found, lambda s: self.frames(s)[0].name == "<module>")
                    alone = server.profile(f"last=4s&pid={workload.pid}")
                    self.assertLessEqual({s.labels["pid"] for s in alone.samples}, {workload.pid})


class Hostile(PythonCase):
    def test_one_that_overwrites_its_own_frames(self):
        with running({"split": (system_python(), "split")}, hz=999) as (server, started):
            start = time.time()
            before = server.metrics()
            pids = at_once([
                [python.path, script("overwrites"), str(seed)] for python in pythons() for seed in range(SPOILERS)
            ])
            wait_used(started["split"], 0.3)
            type(self).profile = server.profile(f"from={start:.3f}")
            after = server.metrics()
            self.assertTrue(server.alive())
            self.assertLess(server.rss_kib(), 512 * 1024)
            # The processes that overwrite their frames do not affect this one.
            self.assert_mostly(
                self.of(started["split"]), lambda s: self.frames(s) and self.frames(s)[0].name == "<module>"
            )
            spoiled = [s for s in self.profile.samples if s.labels.get("pid") in pids]
            self.assertGreater(sum(s.count for s in spoiled), 10)
            for sample in spoiled:
                self.assertLessEqual(len(sample.names), 1100)
            self.assertEqual(after["profd_ticks_total"], sum(
                after[f"profd_{name}_total"] for name in ("samples", "idle", "tallies_lost")
            ))
            self.assertEqual(after["profd_tallies_lost_total"], before["profd_tallies_lost_total"])


if __name__ == "__main__":
    unittest.main()
