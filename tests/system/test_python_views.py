# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Situations of Python code: threads, coroutines, recursion, trace functions, C code called from Python; and the views of
profiles. One profile has every Python of this machine.
"""

import collections
import os
import re
import unittest

import daemon
from lacks import host_lacks
from python_runs import PythonCase, recorded, running, wait_walked
from profile_pb import sigmas
from python_truth import python_frames
from pythons import name_of, pythons, script, with_module
from workload import Workload

BESIDE = LONG = True
SECONDS = 12
DEPTH = 300     # up to 3.10 this has more native frames, of the loop and its callers, than profd walks
LOOP = "_PyEval_EvalFrameDefault"


class Situations(PythonCase):
    @classmethod
    def setUpClass(cls):
        commands = {
            (name, python): (python, *name.split())
            for name in ("threads", "coroutines", f"deep {DEPTH}", "deep 1000", "traced") for python in pythons()
        }
        with running(commands) as (server, cls.started):
            cls.profile = server.profile(recorded(cls.started, SECONDS))

    def each(self, name):
        """Yields (name of the Python, its samples)."""
        for (script_name, python), workload in self.started.items():
            if script_name == name:
                yield name_of(python), self.of(workload)

    def test_threads_have_stacks_of_their_own(self):
        chains = {
            "main_spins": ["<module>", "main", "main_spins"],
            "first_spins": ["first_thread", "first_spins"],
            "second_spins": ["second_thread", "second_spins"],
        }
        for who, samples in self.each("threads"):
            with self.subTest(who):
                threads = {}
                for sample in samples:
                    for name in set(self.python_names(sample)) & chains.keys():
                        threads.setdefault(name, {}).setdefault(sample.labels["tid"], []).append(sample)
                self.assertEqual(threads.keys(), chains.keys())
                tids = set()
                for name, by_tid in threads.items():
                    self.assertEqual(len(by_tid), 1, f"{name} in {by_tid.keys()}")
                    tids |= by_tid.keys()
                    for found in by_tid.values():
                        self.assert_has(found, chains[name])
                self.assertEqual(len(tids), 3)

    def test_a_coroutine_that_runs_is_on_top_of_what_awaits_it(self):
        chains = (["first_outer", "first_middle", "first_works"], ["second_outer", "second_works"])
        for who, samples in self.each("coroutines"):
            with self.subTest(who):
                counts = []
                for chain in chains:
                    found = [s for s in samples if chain[-1] in self.python_names(s)]
                    self.assert_has(found, chain)
                    self.assert_mostly(found, lambda s: self.frames(s)[0].name == "<module>")
                    counts.append(sum(s.count for s in found))
                self.assertAlmostEqual(100 * counts[0] / sum(counts), 75, delta=max(8, sigmas(75, sum(counts))))

    def test_deep_recursion_is_whole_in_python(self):
        for who, samples in self.each(f"deep {DEPTH}"):
            with self.subTest(who):
                whole = ["<module>", "start", *["down"] * (DEPTH + 1)]
                self.assert_mostly(samples, lambda s: self.python_names(s)[:DEPTH + 3] == whole)
                in_bottom = [s for s in samples if self.python_names(s)[DEPTH + 3:] == ["bottom"]]
                self.assertGreater(sum(s.count for s in in_bottom) / sum(s.count for s in samples), 0.95)

    def test_too_deep_recursion_keeps_its_leaf_end_and_says_so(self):
        for who, samples in self.each("deep 1000"):
            with self.subTest(who):
                def good(sample):
                    names = self.python_names(sample)
                    at_leaf = names[-1] == "bottom" and names[-2] == "down"
                    return at_leaf and set(names[:-1]) == {"down"} and len(names) > 480
                # Between two calls of bottom the stacks have nothing but down.
                in_bottom = [s for s in samples if "bottom" in self.python_names(s)]
                self.assertGreater(sum(s.count for s in in_bottom) / sum(s.count for s in samples), 0.95)
                self.assert_mostly(in_bottom, good)
                self.assert_mostly(samples, lambda s: s.names[-1] == "[unknown: more frames than are walked]")

    def test_traced_code(self):
        for who, samples in self.each("traced"):
            with self.subTest(who):
                in_tracer = [s for s in samples if "tracer" in self.python_names(s)]
                self.assertGreater(sum(s.count for s in in_tracer) / sum(s.count for s in samples), 0.3)
                self.assert_mostly(samples, lambda s: self.python_names(s)[:2] in (["<module>", "main"], ["<module>"]))
                self.assert_mostly(in_tracer, lambda s: self.python_names(s)[-1] == "tracer", 0.98)


class Views(PythonCase):
    """Several views of the same seconds."""

    @classmethod
    def setUpClass(cls):
        with running({python: (python, "split") for python in pythons()}, hz=499) as (server, cls.started):
            query = recorded(cls.started, 4)
            cls.profile, cls.raw = server.profile(query), server.profile(f"{query}&python=raw")
            cls.by_line = server.get(f"/profile?{query}&format=text&by=line&rows=0").text
            cls.by_file = server.get(f"/profile?{query}&format=text&by=file&rows=0").text
            cls.folded = server.get(f"/profile?{query}&format=folded").text
            cls.without_kernel = server.profile(f"{query}&kernel=0")
            cls.alone = server.profile(f"{query}&native=0")
            cls.alone_by_line = server.get(f"/profile?{query}&native=0&format=text&by=line&rows=0").text
            cls.wrong = [server.get(f"/profile?last=1s&{query}").status for query in ("python=1", "children=1")]
            cls.metrics, cls.status = server.metrics(), server.get("/status").json()

    def of_pid(self, profile, pid):
        return [s for s in profile.samples if s.labels.get("pid") == pid]

    def below_the_module(self, samples):
        """Returns the native frames below <module>, and those inlined into them, as a list of names for each sample."""
        found = []
        for sample in samples:
            at = [i for i, name in enumerate(sample.names) if name == "<module>"]
            if at:
                found += [tuple(sample.names[at[-1] + 1:at[-1] + 6])] * sample.count
        return found

    def assert_hidden(self, samples):
        """The loop is hidden. It only shows when it has just been entered and runs nothing yet; up to 3.10 also in the few ticks
        between CPython's changes of two of its lists."""
        shown = sum(s.count for s in samples if any(LOOP in name for name in s.names[1:]))
        self.assertLessEqual(shown, 0.005 * sum(s.count for s in samples) + 2, samples)

    def test_the_loop_is_hidden_unless_asked_for(self):
        for python, workload in self.started.items():
            with self.subTest(name_of(python)):
                hidden = self.of_pid(self.profile, workload.pid)
                self.assert_hidden(hidden)
                without = {names[0] for names in self.below_the_module(hidden)}
                raw = self.below_the_module(self.of_pid(self.raw, workload.pid))
                # The loop has no name in a stripped interpreter, or where it consists of many functions.
                loops = [names for names in raw if LOOP in names or names[0] not in without]
                self.assertGreater(len(loops) / len(raw), 0.95, f"{set(raw)} without {without}")

    def test_kernel_0_keeps_the_python_frames(self):
        for workload in self.started.values():
            samples = self.of_pid(self.without_kernel, workload.pid)
            self.assertTrue(samples)
            self.assertEqual([s for s in samples if any(m.startswith("[kernel") for m in s.mappings)], [])
            self.assert_hidden(samples)

    def stacks(self, profile, pid):
        """Returns how many samples have each stack of Python frames, by function and line."""
        found = collections.Counter()
        for sample in self.of_pid(profile, pid):
            found[tuple((frame.name, frame.line) for frame in python_frames(profile, sample))] += sample.count
        return found

    def test_native_0_shows_python_alone(self):
        """What Python calls counts for its own lines, and no sample is lost."""
        for python, workload in self.started.items():
            with self.subTest(name_of(python)):
                alone = self.of_pid(self.alone, workload.pid)
                mappings = {m for s in alone for m in s.mappings if not m.startswith("[python ")}
                self.assertEqual({m for m in mappings if m[0] != "["}, set())
                found, with_native = self.stacks(self.alone, workload.pid), self.stacks(self.profile, workload.pid)
                self.assertEqual(found, with_native)
        self.assertNotIn("stacks complete", self.alone_by_line)
        self.assertIn("native=0", self.alone_by_line)
        self.assertRegex(self.alone_by_line, rf"sixty {re.escape(script('split'))}:\d+")

    def test_lines_with_their_text(self):
        path = script("split")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        found = re.findall(rf"(\S+) {re.escape(path)}:(\d+)  (.*)", self.by_line)
        self.assertGreater(len(found), 10)
        for _, line, text in found:
            self.assertEqual(text.strip(), lines[int(line) - 1].strip())
        self.assertIn("total += i ^ (total & 7)", [text.strip() for _, _, text in found])
        self.assertIn(path, self.by_file)

    def test_folded_stacks(self):
        names = "(Work[.])?run;(Work[.])?middle;(Work[.])?sixty"
        pattern = re.compile(names if all(p.minor >= 11 for p in pythons()) else r"run;.*middle;.*sixty")
        self.assertTrue([line for line in self.folded.splitlines() if pattern.search(line)])

    def test_wrong_questions_are_refused(self):
        self.assertEqual(self.wrong, [400, 400])

    def test_metrics_account_for_it(self):
        names = {name for name in self.metrics if "python" in name}
        self.assertTrue(names)
        processes = [v for n, v in self.metrics.items() if re.match(r"profd_python\w*processes$", n)]
        self.assertTrue(processes, names)
        self.assertGreaterEqual(max(processes), len(self.started))
        # A page that the kernel moves cannot be read at that moment.
        self.assertLess(self.metrics["profd_python_broken_total"], self.metrics["profd_samples_total"] / 1000)
        for name in names - {"profd_python_broken_total"}:
            # Files that other programs map are searched as well, and these may be damaged on purpose.
            if re.search("broken|refused|failed|unknown", name) and "files" not in name:
                self.assertEqual(self.metrics[name], 0, name)


class Extensions(PythonCase):
    """Python code that needs modules outside of the standard library."""

    def take(self, name, module, *arguments):
        python = with_module(module)
        if python is None:
            host_lacks(f"a Python with {module}")
            return None
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        workload = Workload(python.path, script(name), *arguments, env=environment)
        with workload, daemon.Daemon(hz=499) as server:
            started = {name: workload}
            wait_walked(server, started)
            type(self).profile = server.profile(f"{recorded(started, 3)}&pid={workload.pid}")
        return self.of(workload)

    def test_numpy_between_python_and_blas(self):
        samples = self.take("matmul", "numpy")
        if samples is None:
            return
        def good(sample):
            frames = self.frames(sample)
            if [f.name for f in frames] != ["<module>", "main", "multiply"]:
                return False
            native = sample.mappings[:frames[-1].at]
            numpy = [i for i, m in enumerate(native) if "multiarray" in m]
            blas = [i for i, m in enumerate(native) if "blas" in m]
            return bool(numpy) and bool(blas) and max(blas) < max(numpy)
        self.assert_mostly(samples, good, 0.9)

    def greenlets(self, module, *arguments):
        samples = self.take("greenlets", module, *arguments)
        if samples is None:
            return
        for chain, other in ((["first_green", "first_work", "spin"], "second_"),
                             (["second_green", "second_work", "spin"], "first_")):
            found = [s for s in samples if chain[1] in self.python_names(s) and "spin" in self.python_names(s)]
            self.assertGreater(sum(s.count for s in found), 0)
            self.assert_has(found, chain)
            self.assert_mostly(
                found, lambda s, o=other: not any(name.startswith(o) for name in self.python_names(s))
            )

    def test_greenlet(self):
        self.greenlets("greenlet")

    def test_gevent(self):
        self.greenlets("gevent", "gevent")


if __name__ == "__main__":
    unittest.main()
