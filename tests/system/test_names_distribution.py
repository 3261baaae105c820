# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Names in programs as a distribution ships them: stripped, some with debug files; and names of the kernel."""

import contextlib
import os
import re
import sys
import unittest

import daemon
import reference
from warm_up import warm_up
from workload import Workload, spend

sys.path.append(os.path.join(daemon.ROOT, "tests", "bench"))

from programs import PROGRAMS  # noqa: E402

BESIDE = True
HZ = 999  # enough samples to see one in a thousand
SECONDS = 8
STRIPPED = ("openssl", "xz", "python3.11")
NAMELESS = re.compile(r"^\[.+\+0x[0-9a-f]+\]$")
BY_BOUNDS = re.compile(r"^(.+)!sub_([0-9a-f]+)$")
KPTR_RESTRICT = "/proc/sys/kernel/kptr_restrict"


def basename(path):
    return os.path.basename(path.removesuffix(" (deleted)"))


class Stripped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(daemon.Daemon(hz=HZ))
            who = {stack.enter_context(PROGRAMS[name]()).removeprefix("pid="): name for name in STRIPPED}
            sorts = stack.enter_context(Workload("libc_sorts"))
            warm_up(server, 10)
            cls.profile = server.profile(spend(who, 2, SECONDS))
        cls.samples = {name: [] for name in (*STRIPPED, "libc_sorts")}
        for sample in cls.profile.samples:
            name = who.get(str(sample.labels.get("pid")))
            if sample.labels.get("pid") == sorts.pid:
                name = "libc_sorts"
            if name and not sample.mappings[0].startswith("[kernel"):
                cls.samples[name].append(sample)

    def frames_in_files(self, name):
        """Yields (frames, address, path) of a program's locations."""
        for location in {loc for sample in self.samples[name] for loc in sample.locations}:
            _, address, mapping = self.profile.locations[location]
            if mapping:
                yield self.profile.frames[location], address, self.profile.mappings[mapping]["file"]

    def test_nearly_every_leaf_has_a_function(self):
        for name in STRIPPED:
            with self.subTest(name):
                total = sum(sample.count for sample in self.samples[name])
                self.assertGreater(total, 1000)
                nameless = [s for s in self.samples[name] if NAMELESS.match(s.names[0])]
                self.assertLessEqual(sum(s.count for s in nameless), total / 1000, nameless[:5])

    def test_functions_without_symbols_begin_where_readelf_says(self):
        found = 0
        for name in STRIPPED:
            for frames, address, path in self.frames_in_files(name):
                match = BY_BOUNDS.match(frames[-1].name)
                if not match:
                    continue
                found += 1
                self.assertEqual(match[1], basename(path))
                start = int(match[2], 16)
                inside = [b for b in reference.frame_bounds(path) if b[0] == start and start <= address < b[1]]
                self.assertTrue(inside, f"{address:#x} of {path} is not in {frames[-1].name}")
        self.assertGreater(found, 10)

    def test_libc_has_the_lines_of_its_debug_file(self):
        path = next(path for _, _, path in self.frames_in_files("libc_sorts") if "libc.so" in path)
        build_id = next(m["build_id"] for m in self.profile.mappings.values() if m["file"] == path)
        debug = reference.debug_file(build_id)
        self.assertTrue(os.path.exists(debug), f"{debug} is missing: install libc6-dbg")
        found = {address: frames for frames, address, file in self.frames_in_files("libc_sorts") if file == path}
        asked = [reference.addr2line(debug, found), reference.llvm_symbolizer(debug, found)]
        wrong = {
            hex(address): (frames, [answers[address] for answers in asked]) for address, frames in found.items()
            if not reference.agrees(frames, [answers[address] for answers in asked])
        }
        self.assertEqual(len(wrong), 0, f"of {len(found)}: {dict(list(wrong.items())[:3])}")
        sorting = {(f.name, os.path.basename(f.file)) for frames in found.values() for f in frames if f.line}
        self.assertIn(("msort_with_tmp", "msort.c"), sorting)


class Kernel(unittest.TestCase):
    def kernel_names(self, profile, pid):
        """Returns name -> the mapping's name, of the kernel frames of a process."""
        names = {}
        for sample in profile.samples:
            if sample.labels["pid"] == pid:
                for location in sample.locations:
                    for frame in profile.frames[location]:
                        mapping = profile.locations[location][2]
                        file = profile.mappings[mapping]["file"] if mapping else ""
                        if file.startswith("[kernel"):
                            names[frame.name] = file
        return names

    def test_frames_of_the_kernel_have_names(self):
        with Workload("syscalls", 30) as asks:
            names = self.kernel_names(daemon.shared().profile(f"seconds=2&pid={asks.pid}"), asks.pid)
        self.assertIn("[kernel.kallsyms]", names.values())
        self.assertTrue(any("getppid" in name for name in names), names)
        self.assertEqual([name for name in names if NAMELESS.match(name) or name == "[kernel]"], [])

    def test_hidden_names_are_said_to_be_hidden(self):
        with open(KPTR_RESTRICT, encoding="ascii") as setting:
            was = setting.read()
        self.addCleanup(self.restrict, was)
        self.restrict("2")
        through = ("setpriv", "--bounding-set", "-syslog", "--inh-caps", "-syslog")
        with daemon.Daemon(through=through) as server, Workload("syscalls", 30) as asks:
            profile = server.profile(f"seconds=2&pid={asks.pid}")
        self.assertEqual(set(self.kernel_names(profile, asks.pid)), {"[kernel]"})
        hidden = [comment for comment in profile.comments if "hidden" in comment]
        self.assertEqual(len(hidden), 1, profile.comments)
        self.assertRegex(hidden[0], "kptr_restrict|CAP_SYSLOG")
        self.assertTrue(any("main" in sample.names for sample in profile.samples))

    def restrict(self, value):
        with open(KPTR_RESTRICT, "w", encoding="ascii") as setting:
            setting.write(value)
