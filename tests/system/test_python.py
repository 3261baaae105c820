# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Python functions, files and lines among native frames, for every CPython of this machine at once."""

import ast
import tempfile
import unittest

from pprof import pprof, top_shares, traces
from profile_pb import Profile
from python_runs import PythonCase, recorded, rooted, running, shown
from python_truth import Truth, verdict
from pythons import SYSTEM, name_of, pythons, script

BESIDE = True
SECONDS = 10  # all programs share the CPUs

# The parts of split.py: percent, the Python frames from the root, and whether C code comes before the last frame
# (None: in some versions).
PARTS = {
    "method": (60, ["<module>", "main", "Work.run", "Work.middle", "Work.sixty"], False),
    "generator": (15, ["<module>", "main", "consume", "generator"], None),
    "callback": (15, ["<module>", "main", "sort_them", "callback"], True),
    "class body": (5, ["<module>", "main", "define", "define.<locals>.Body"], True),
    "lambda": (5, ["<module>", "main", "call_lambda", "call_lambda.<locals>.<lambda>"], False),
}


def loops_of(path):
    """Returns function name -> lines of its loops, or of its statements where it has no loop."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            loops = [child for child in node.body if isinstance(child, (ast.For, ast.While))] or node.body
            found[node.name] = {
                line for loop in loops for line in range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
            }
    return found


def run_all(name, seconds):
    """Returns (server's answer, Profile, {pid: Python}) of a script in every Python at once."""
    with running({python: (python, name) for python in pythons()}) as (server, started):
        answer = server.get("/profile?" + recorded(started, seconds))
        if answer.status != 200:
            raise AssertionError(answer.text)
        return answer, Profile(answer.body), {workload.pid: python for python, workload in started.items()}


class Split(PythonCase):
    @classmethod
    def setUpClass(cls):
        cls.answer, cls.profile, cls.pids = run_all("split", SECONDS)
        cls.path = script("split")

    def each(self):
        """Yields (Python, its samples)."""
        for pid, python in self.pids.items():
            samples = [s for s in self.profile.samples if s.labels.get("pid") == pid]
            self.assertGreater(sum(s.count for s in samples), 100)
            yield python, samples

    def part_of(self, python, sample):
        names = self.python_names(sample)
        for part, (_, chain, _) in PARTS.items():
            if names[:len(chain)] == shown(python, chain):
                return part
        return None

    def test_shares(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                total = sum(s.count for s in samples)
                found = dict.fromkeys(PARTS, 0)
                for sample in samples:
                    part = self.part_of(python, sample)
                    if part:
                        found[part] += sample.count
                # The script's time outside of the parts, some 4 %, belongs to no share.
                worked = sum(found.values())
                self.assertGreater(worked, 0.9 * total)
                for part, (share, _, _) in PARTS.items():
                    # Beside other tests a Python has some 1,400 samples: five standard deviations of a share of 15 %.
                    self.assertAlmostEqual(100 * found[part] / worked, share, delta=5, msg=f"{part} of {worked}")
                print(f"\n  {name_of(python)}: {total} samples,",
                      ", ".join(f"{part} {100 * n / total:.1f} %" for part, n in found.items()), end=" ")

    def test_every_stack_is_rooted_at_the_module_and_natively_below(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                def good(sample):
                    frames = self.frames(sample)
                    return (bool(frames) and frames[0].name == "<module>" and frames[0].file == self.path
                            and frames[0].at < len(sample.names) - 2 and rooted(sample))
                self.assert_mostly(samples, good)

    def test_python_and_native_frames_alternate_as_they_called_each_other(self):
        for python, samples in self.each():
            parts = {part: [s for s in samples if self.part_of(python, s) == part] for part in PARTS}
            for part, (_, chain, through_c) in PARTS.items():
                if through_c is not None:
                    with self.subTest(f"{name_of(python)}: {part}"):
                        # Up to 3.10 every call of Python goes through C. A callback is so short that samples hit its
                        # first instructions, where its frame is current already but not yet marked as called by C.
                        self.assert_calls(parts[part], len(chain) - 1, through_c or python.minor <= 10,
                                          0.98 if part == "callback" else 0.995)
            with self.subTest(f"{name_of(python)}: C at the leaf"):
                # Native code that Python calls is nearer the leaf than its caller.
                self.assert_mostly(parts["lambda"], lambda s: self.frames(s)[-1].at > 0, 0.95)

    def assert_calls(self, samples, depth, through_c, at_least):
        """Asserts whether native code comes between the Python frame at that depth and its caller."""
        def good(sample):
            callee, caller = self.frames(sample)[depth], self.frames(sample)[depth - 1]
            return (caller.at - callee.at > 1) == through_c
        self.assert_mostly(samples, good, at_least)

    def test_lines_are_those_of_the_loops(self):
        loops = loops_of(self.path)
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                for part, (_, chain, _) in PARTS.items():
                    name = chain[-1].rpartition(".")[2]
                    if name not in loops:
                        continue
                    inside = [s for s in samples if self.part_of(python, s) == part]
                    # A callback's loop is short beside the call; a class body begins with its names.
                    at_least = 0.9 if part in ("callback", "class body") else 0.99
                    self.assert_mostly(inside, lambda s, a=loops[name]: self.frames(s)[-1].line in a, at_least)
                    lines = {self.frames(s)[-1].line for s in inside}
                    self.assertGreater(len(lines & loops[name]), 1, f"{part}: {lines}")

    def test_every_frame_is_of_a_function_that_is_there(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                truth = Truth(python, self.path)
                self.assert_mostly(samples, lambda s, t=truth: all(map(t.is_right, self.frames(s))), 0.999)

    def test_functions_have_no_other_name(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                for sample in samples:
                    for location, mapping in zip(sample.locations, sample.mappings):
                        if mapping.startswith("[python "):
                            for frame in self.profile.frames[location]:
                                self.assertEqual(frame.system_name, "")
                                self.assertGreater(frame.start_line, 0)

    def test_labels_and_mapping_say_the_version(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                self.assertEqual({(s.labels.get("runtime"), s.labels.get("runtime_version")) for s in samples}, {("python", python.label)})
                mappings = {m for s in samples for m in s.mappings if m.startswith("[python ")}
                self.assertEqual(mappings, {f"[python {python.label}]"})

    def test_the_gil_is_held_by_what_runs_python(self):
        for python, samples in self.each():
            with self.subTest(name_of(python)):
                expected = "none" if python.free_threaded else "held"
                self.assert_mostly(samples, lambda s, e=expected: s.labels.get("gil") == e, 0.98)

    def test_pprof_reads_it(self):
        pids = {python.path: (pid, python) for pid, python in self.pids.items()}
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(self.answer.body)
            file.flush()
            for pid, python in {pids[SYSTEM], pids[pythons()[-1].path]}:
                with self.subTest(name_of(python)):
                    self.assert_pprof_reads(python, ["-symbolize=none", f"-tagfocus=pid={pid}:{pid}", file.name])

    def assert_pprof_reads(self, python, arguments):
        shares = top_shares(pprof("-top", "-nodecount=1000", "-nodefraction=0", *arguments))
        # pprof's shares are of the whole profile; the shares under test are of all parts together.
        leaves = {shown(python, chain)[-1]: share for share, chain, _ in PARTS.values()}
        worked = sum(shares[name][1] for name in leaves)
        self.assertGreater(worked, 0.9 * shares["<module>"][1])
        for name, share in leaves.items():
            self.assertAlmostEqual(100 * shares[name][1] / worked, share, delta=4, msg=name)
        chain = shown(python, PARTS["method"][1])[::-1]
        stacks = traces(pprof("-traces", *arguments))
        self.assertTrue([s for s in stacks if [n for n in s if n in chain] == chain], stacks[:2])
        listed = pprof(f"-list=^{chain[0].replace('.', '[.]')}$", *arguments)
        self.assertIn("total += i ^ (total & 7)", listed)
        self.assertIn(self.path, listed)


class Edges(unittest.TestCase):
    """Every pair of frames is a call that the source has: see bench/python_agreement.py for more."""

    def test_every_call_is_one_that_the_source_has(self):
        _, profile, pids = run_all("edges", 6)
        for pid, python in pids.items():
            with self.subTest(name_of(python)):
                found = verdict(
                    Truth(python, script("edges")), profile, lambda s, p=pid: s.labels.get("pid") == p
                )
                self.assertGreater(found.samples, 50)
                print(f"\n  {name_of(python)}: {found.wrong} wrong of {found.pairs}", end=" ")
                examples = "\n".join(map(repr, found.examples[:3]))
                self.assertLessEqual(found.wrong / found.pairs, 0.001, examples)


if __name__ == "__main__":
    unittest.main()
