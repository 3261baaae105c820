#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Other programs under libprofd-heap.so behave as they do without it, whatever allocator is behind the library.

The library is preloaded into them without a listener and with a sample every few kilobytes, so that its slow
paths run, too. Needs no root.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
# A copy to which no profiler on this host listens.
LIBRARY = os.path.join(BUILD, "tests", "preload", "libprofd-heap.so")
REAL = os.path.join(BUILD, "libprofd-heap.so")
SUITES = os.path.join(BUILD, "tests", "preload", "preload")
DLSYM = os.path.join(BUILD, "tests", "preload", "dlsym_allocates.so")
# The library exports its counters, so a process can read its own.
COUNTED = """
import ctypes
rate, allocs = (ctypes.c_uint64 * 2).in_dll(ctypes.CDLL(None), "profd_heap_counters")
print(rate, allocs)
"""
SORTING = "import random; random.seed(7); print(sum(sorted(random.random() for _ in range(60000))[:1000]))"
THREADS = """
import json, threading
def work():
    for _ in range(6):
        json.loads(json.dumps({str(i): [i] * 20 for i in range(500)}))
threads = [threading.Thread(target=work) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
"""
CHILDREN = "import multiprocessing as m; p = m.get_context('fork').Pool(4); print(p.map(len, ['a' * n for n in range(500)]))"


def allocator(name):
    found = glob.glob(f"/usr/lib/*/{name}") + glob.glob(f"/usr/lib64/{name}")
    if not found:
        raise AssertionError(f"{name} is not installed; `make deps` does that")
    return found[0]


def run(argv, *behind, rate="4KiB", preload=True, **options):
    """(status, stdout, stderr) of a command, with the library preloaded, and the libraries `behind` after it."""
    environment = dict(os.environ, PYTHONMALLOC="malloc", **options)
    environment.pop("PROFD_HEAP_RATE", None)
    libraries = ([LIBRARY] if preload else []) + list(behind)
    if libraries:
        environment["LD_PRELOAD"] = ":".join(libraries)
    if rate:
        environment["PROFD_HEAP_RATE"] = rate
    done = subprocess.run(argv, env=environment, capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


class Programs(unittest.TestCase):
    def assert_the_same(self, argv, *behind):
        self.assertEqual(run(argv, *behind), run(argv, preload=False))

    def test_python(self):
        self.assert_the_same([sys.executable, "-c", SORTING])

    def test_python_threads(self):
        self.assert_the_same([sys.executable, "-c", THREADS])

    def test_python_forks(self):
        self.assert_the_same([sys.executable, "-c", CHILDREN])

    def test_sort(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.writelines(f"{n * 7919 % 100003}\n" for n in range(100000))
            file.flush()
            self.assert_the_same(["sort", "--parallel=4", "-n", file.name])

    def test_gcc(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dlsym_allocates.c")
        self.assert_the_same(["gcc", "-D_GNU_SOURCE", "-O2", "-S", "-o", "-", source])

    def test_a_shell_and_its_children(self):
        self.assert_the_same(["sh", "-c", "seq 1000 | awk '{ s += $1 } END { print s }' | tr 0 o; ls / | wc -l"])

    def test_a_static_program_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "static")
            source = "#include <stdio.h>\nint main(void) { return puts(\"static\") < 0; }"
            subprocess.run(["gcc", "-static", "-x", "c", "-o", program, "-"], input=source.encode(), check=True)
            self.assert_the_same([program])

    def test_loaded_late(self):
        # The library is not called then, but it must load: there must be room for its thread-local variables, for example.
        late = f"import ctypes; ctypes.CDLL({LIBRARY!r}, mode=ctypes.RTLD_GLOBAL); import sqlite3, decimal, ssl; "
        self.assertEqual(run([sys.executable, "-c", late + SORTING], preload=False)[:2],
                         run([sys.executable, "-c", SORTING], preload=False)[:2])


class Allocators(unittest.TestCase):
    """The suites of this folder, and programs, with other allocators behind the library."""

    def assert_works_above(self, library, suite, rate="1KiB"):
        status, output, _ = run([SUITES], library, rate=rate, CK_RUN_SUITE=suite)
        self.assertEqual(status, 0, output.decode())

    def test_jemalloc(self):
        self.assert_works_above(allocator("libjemalloc.so.2"), "pairing")
        self.assertEqual(run([sys.executable, "-c", THREADS], allocator("libjemalloc.so.2")), (0, b"done\n", b""))

    def test_tcmalloc(self):
        self.assert_works_above(allocator("libtcmalloc_minimal.so.4"), "pairing")
        self.assertEqual(run([sys.executable, "-c", THREADS], allocator("libtcmalloc_minimal.so.4")),
                         (0, b"done\n", b""))

    def test_a_dlsym_that_allocates(self):
        self.assert_works_above(DLSYM, "edges")
        self.assertEqual(run([sys.executable, "-c", SORTING], DLSYM)[1], run([sys.executable, "-c", SORTING])[1])


class Probes(unittest.TestCase):
    def test_names(self):
        notes = subprocess.run(["readelf", "-n", REAL], check=True, capture_output=True, text=True).stdout
        self.assertEqual(sorted(re.findall(r"Provider: (\S+)\s+Name: (\S+)", notes)),
                         [("otel_memory", "alloc"), ("otel_memory", "free")])


class Rate(unittest.TestCase):
    def assert_rate(self, text, rate, said=b""):
        self.assertEqual(run([sys.executable, "-c", COUNTED], rate=text), (0, f"{rate} 0\n".encode(), said))

    def test_default(self):
        self.assert_rate(None, 512 << 10)

    def test_units(self):
        for text, rate in (("1", 1), ("700", 700), ("64KiB", 64 << 10), ("3MiB", 3 << 20), ("1024GiB", 1 << 40)):
            self.assert_rate(text, rate)

    def test_refused(self):
        for text in (" ", "0", "x", "-1", "1k", "1 KiB", "1025GiB", "99999999999999999999999", "0x10"):
            self.assert_rate(text, 512 << 10,
                             b"libprofd-heap: PROFD_HEAP_RATE must be 1 to 1024GiB; 512KiB is used\n")


if __name__ == "__main__":
    unittest.main()
