# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Functions, inlined calls and source lines agree with what other tools report for the same addresses.

One profile has all of the levels programs of tests/workloads, in each language and with each kind of debug information.
"""

import collections
import contextlib
import os
import re
import subprocess
import tempfile
import unittest

import daemon
import reference
from pprof import ENVIRONMENT, pprof
from profile_pb import Profile
from warm_up import warm_up
from workload import Workload, workload_path

BESIDE = True
HZ = 999  # all programs share the CPUs, and each needs some hundred samples
SECONDS = 8

VARIANTS = subprocess.run(
    [os.path.join(daemon.ROOT, "tests/workloads/variants.sh"), "list"], check=True, capture_output=True, text=True
).stdout.split()
# Programs whose debug information is reduced: to names, or to the beginnings of functions.
WITHOUT_LINES = {"c-minidebug", "cc-minidebug", "c-stripped", "cc-stripped"}

READ_BY_PPROF = ("c-dwarf5", "cc-dwarf4")  # addr2line reads their innermost frames correctly

SHARES = {"first": 10, "second": 30, "third": 60}
# The names of the levels in C, C++, Rust, Fortran and Go.
LEVEL = re.compile(r"(?:^|::|\.|_MOD_)(first|second|third)(?:_?[lL]evel|<long>::level)\b")
MARKED = re.compile(r"\* share (\d+) \*")


def built(variant):
    return workload_path(f"names/{variant}")


def reference_of(variant):
    path = built(variant) + ".reference"
    return path if os.path.exists(path) else built(variant)


def tells_starts(variant):
    """Whether a program says on which lines its functions begin: Go does since 1.20, in its DWARF as in its own table."""
    return not variant.startswith("go-") or reference.go_version(reference_of(variant), ENVIRONMENT) >= (1, 20)


def level(frame):
    match = LEVEL.search(frame.name)
    return match and match[1]


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(daemon.Daemon(hz=HZ))
            pids = {stack.enter_context(Workload(built(name))).pid: name for name in VARIANTS}
            warm_up(server, 10)
            cls.profile = server.profile(f"seconds={SECONDS}", timeout=SECONDS + 60)
            cls.alone = {
                name: server.get(f"/profile?last={SECONDS}s&pid={pid}").body
                for pid, name in pids.items() if name in READ_BY_PPROF
            }
        cls.samples = {name: [] for name in VARIANTS}
        for sample in cls.profile.samples:
            name = pids.get(sample.labels.get("pid"))
            if name:
                cls.samples[name].append(sample)

    def addresses(self, variant):
        """Returns address -> (frames, samples) of the sampled addresses in the program itself."""
        found = {}
        for sample in self.samples[variant]:
            for location in set(sample.locations):
                _, address, mapping = self.profile.locations[location]
                if mapping and self.profile.mappings[mapping]["file"] == built(variant):
                    count = found.get(address, (None, 0))[1] + sample.count
                    found[address] = self.profile.frames[location], count
        self.assertTrue(found, variant)
        return found

    def with_lines(self):
        return [name for name in VARIANTS if name not in WITHOUT_LINES]

    def test_each_program_has_samples(self):
        for name in VARIANTS:
            self.assertGreater(sum(s.count for s in self.samples[name]), 100, name)

    def test_every_sampled_line_is_what_other_tools_say(self):
        for name in self.with_lines():
            found = self.addresses(name)
            path = reference_of(name)
            asked = [reference.llvm_symbolizer(path, found)]
            if not name.startswith("go-"):  # binutils 2.40 cannot read what Go 1.25 writes
                asked.append(reference.addr2line(path, found))
            wrong = {
                hex(address): (frames, [answers[address] for answers in asked])
                for address, (frames, _) in found.items()
                if not reference.agrees(frames, [answers[address] for answers in asked])
            }
            with self.subTest(name):
                self.assertEqual(len(wrong), 0, f"of {len(found)}: {dict(list(wrong.items())[:3])}; {self.profile.comments}")

    def test_every_sampled_name_is_demangled_as_others_do(self):
        for name in self.with_lines():
            if not name.startswith("cc-"):
                continue
            frames = {f for found, _ in self.addresses(name).values() for f in found if f.system_name}
            readable = reference.demangle(sorted({frame.system_name for frame in frames}))
            with self.subTest(name):
                self.assertTrue(frames)
                self.assertEqual(
                    {f.system_name: f.name for f in frames}, {f.system_name: readable[f.system_name] for f in frames}
                )

    def test_three_levels_of_inlining_in_order(self):
        for name in self.with_lines():
            inside, orders = 0, collections.Counter()
            for frames, count in self.addresses(name).values():
                levels = [level(frame) for frame in frames if level(frame)]
                if levels:
                    inside += count
                    orders[tuple(levels)] += count
            with self.subTest(name):
                self.assertGreater(inside, 50)
                chain = ("third", "second", "first")
                self.assertEqual(set(orders) - {chain, chain[1:], chain[2:]}, set(), orders)

    def test_shares_60_30_10(self):
        """The shares are those of the samples in any of the three levels, by the innermost one."""
        for name in self.with_lines():
            counts = collections.Counter()
            for sample in self.samples[name]:
                levels = [level(f) for f in self.profile.frames[sample.locations[0]] if level(f)]
                if levels:
                    counts[levels[0]] += sample.count
            total = sum(counts.values())
            with self.subTest(name):
                self.assertGreater(total, 50)
            for which, share in SHARES.items():
                with self.subTest(f"{name} {which}"):
                    # Five standard deviations for so many samples, because there are some seventy such shares.
                    delta = 1 + 500 * (0.01 * share * (1 - 0.01 * share) / max(total, 1)) ** 0.5
                    self.assertAlmostEqual(100 * counts[which] / max(total, 1), share, delta=delta, msg=counts)

    def test_marked_lines(self):
        """In C and C++ all the time of a level is on one line, which states its share."""
        for name in self.with_lines():
            language = name.partition("-")[0]
            if language not in ("c", "cc"):
                continue
            source = os.path.join(daemon.ROOT, "tests/workloads", {"c": "levels_c.c", "cc": "levels.cc"}[language])
            with open(source, encoding="ascii") as text:
                marks = {n: int(m[1]) for n, m in enumerate(map(MARKED.search, text), 1) if m}
            self.assertEqual(sorted(marks.values()), [10, 30, 60])
            right = wrong = 0
            for sample in self.samples[name]:
                frame = next((f for f in self.profile.frames[sample.locations[0]] if level(f)), None)
                if frame and frame.file == source and marks.get(frame.line) == SHARES[level(frame)]:
                    right += sample.count
                elif frame:
                    wrong += sample.count
            with self.subTest(name):
                self.assertGreaterEqual(right / max(right + wrong, 1), 0.98, f"{right} right, {wrong} wrong")

    def test_functions_begin_where_the_source_says(self):
        for name in self.with_lines():
            # A row of the line table may belong to an inlined library function, about which nothing else is recorded.
            found = {
                (f.file, f.start_line) for frames, _ in self.addresses(name).values() for f in frames
                if level(f) and os.path.basename(f.file).startswith("levels")
            }
            self.assertTrue(found)
            if not tells_starts(name):
                self.assertEqual({start for _, start in found}, {0}, name)
                continue
            for file, start in found:
                with self.subTest(f"{name} {file}:{start}"), open(file, encoding="ascii") as text:
                    lines = text.readlines()
                    self.assertRegex("".join(lines[start - 1:start + 1]), r"[lL]evel")

    def test_mini_debug_info_has_names_only(self):
        for name in ("c-minidebug", "cc-minidebug"):
            found = self.addresses(name)
            known = reference.addr2line(reference_of(name), found)
            for address, (frames, _) in found.items():
                # The outermost function is the one that the code belongs to. PLT stubs have no debug information.
                outermost = known[address][-1]
                if outermost.file:
                    self.assertEqual(len(frames), 1)
                    told, function = frames[0], outermost.function
                    if told.system_name and not function.startswith("_Z"):
                        # addr2line sometimes gives the source's name of a function with a mangled one.
                        self.assertIn(function.split("<")[0], told.name, hex(address))
                    else:
                        self.assertEqual(told.system_name or told.name, function, hex(address))
                    self.assertEqual((frames[0].file, frames[0].line), ("", 0))

    def test_stripped_functions_are_named_by_where_they_begin(self):
        for name in ("c-stripped", "cc-stripped"):
            bounds = reference.frame_bounds(built(name))
            for address, (frames, _) in self.addresses(name).items():
                match = re.fullmatch(rf"{name}!sub_([0-9a-f]+)", frames[0].name)
                if match:  # the others have a name of .dynsym, or are PLT stubs
                    start = int(match[1], 16)
                    inside = [b for b in bounds if b[0] == start and b[0] <= address < b[1]]
                    self.assertTrue(inside, f"{name}: {address:#x} is not in {frames[0].name}")
            leaves = {s.names[0] for s in self.samples[name]}
            self.assertTrue(any(leaf.startswith(f"{name}!sub_") for leaf in leaves), leaves)

    def test_go_agrees_with_go_tool_addr2line(self):
        for name in ("go-dwarf", "go-stripped"):
            if name not in VARIANTS:
                continue
            found = self.addresses(name)
            known = reference.go_addr2line(reference_of(name), sorted(found), ENVIRONMENT)
            for address, (frames, _) in found.items():
                place = known[address]
                # go tool addr2line has the innermost line, but only the outermost function.
                self.assertEqual((frames[0].file, frames[0].line), (place.file, place.line), hex(address))
                self.assertEqual(frames[-1].name, place.function, hex(address))

    def test_pprof_lines_and_list(self):
        for name in READ_BY_PPROF:
            with self.subTest(name), tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
                file.write(self.alone[name])
                file.flush()
                self.assert_lines_and_list(name, Profile(self.alone[name]), file.name)

    def assert_lines_and_list(self, variant, profile, file):
        """The counts of -lines and -list on each marked line agree with addr2line's lines for the sampled addresses."""
        counts = collections.Counter()
        for sample in profile.samples:
            _, address, mapping = profile.locations[sample.locations[0]]
            if mapping and profile.mappings[mapping]["file"] == built(variant):
                counts[address] += sample.count
        places = reference.addr2line(built(variant), counts, demangle=True)
        expected = collections.Counter()
        for address, count in counts.items():
            expected[places[address][0]] += count
        marked = [place for place, _ in expected.most_common() if LEVEL.search(place.function)][:3]
        self.assertEqual(len({place.function for place in marked}), 3, expected)

        lines = pprof("-top", "-lines", "-nodecount=1000000", "-sample_index=samples", file)
        listing = pprof("-list", r"third|second|first", "-sample_index=samples", file)
        for place in marked:
            where = rf"\S*{re.escape(os.path.basename(place.file))}:{place.line}\b"
            name = re.escape(re.sub(r"[<(].*", "", place.function))
            rows = re.findall(rf"(?m)^\s*(\d+)\s.*\s{name}.*\s{where}", lines)
            self.assertEqual(sum(map(int, rows)), expected[place], f"{place}\n{lines[:3000]}")
            rows = re.findall(rf"(?m)^\s*(\d+)\s+(?:\d+|\.)\s+{place.line}:(.*)", listing)
            self.assertEqual([int(count) for count, _ in rows], [expected[place]], f"{place}\n{listing[:3000]}")
            with open(place.file, encoding="ascii") as text:
                self.assertIn(text.readlines()[place.line - 1].strip(), rows[0][1])
