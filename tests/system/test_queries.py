# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The queries of /profile: ranges of the past, selections, formats; and the other endpoints."""

import concurrent.futures
import datetime
import subprocess
import time
import unittest

import daemon
from workload import Workload, wait_used

BESIDE = True


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()
        cls.start = time.time()
        cls.spin = Workload("spin60_30_10")
        cls.addClassCleanup(cls.spin.__exit__)
        time.sleep(5)
        wait_used(cls.spin, 2)

    def assert_spin(self, profile, least=20):
        count = profile.total(where=lambda sample: sample.labels.get("pid") == self.spin.pid)
        self.assertGreater(count, least)

    def test_last(self):
        answer = self.daemon.get("/profile?last=10s&format=folded")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertLess(answer.seconds, 10, "nothing is waited for")
        self.assertIn("hot60", answer.text)
        self.assert_spin(self.daemon.profile("last=10"))

    def test_from_to_unix(self):
        now = time.time()
        answer = self.daemon.get(f"/profile?from={self.start:.3f}&to={now:.3f}&format=folded")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertLess(answer.seconds, 10, "nothing is waited for")
        self.assertIn("hot60", answer.text)

    def test_from_to_rfc3339(self):
        start = datetime.datetime.fromtimestamp(self.start, datetime.timezone.utc)
        for text in (start.strftime("%Y-%m-%dT%H:%M:%SZ"), start.strftime("%Y-%m-%dT%H:%M:%S%%2B00:00")):
            with self.subTest(text):
                self.assert_spin(self.daemon.profile(f"from={text}"))

    def test_range_is_what_was_asked_for(self):
        before = time.time()
        profile = self.daemon.profile("seconds=2")
        self.assertAlmostEqual(profile.duration_ns / 1e9, 2.0, delta=0.1)
        self.assertGreater(profile.time_ns / 1e9, before - 0.1)
        self.assertLess((profile.time_ns + profile.duration_ns) / 1e9, time.time() + 0.1)

    def test_pid_repeated(self):
        with Workload("mangled") as other:
            start = time.time()
            wait_used(other, 0.5)
            wait_used(self.spin, 0.5)
            profile = self.daemon.profile(f"from={start:.3f}&pid={self.spin.pid}&pid={other.pid}")
        self.assertEqual({s.labels["pid"] for s in profile.samples}, {self.spin.pid, other.pid})

    def test_tid(self):
        profile = self.daemon.profile(f"last=5s&tid={self.spin.pid}")
        self.assertEqual({s.labels["tid"] for s in profile.samples}, {self.spin.pid})

    def test_comm(self):
        profile = self.daemon.profile("last=5s&comm=spin60_30_10")
        self.assertEqual({s.labels["comm"] for s in profile.samples}, {"spin60_30_10"})
        self.assert_spin(profile)

    def test_a_name_that_nobody_has(self):
        for query in ("last=5s", "seconds=1", f"last=5s&pid={self.spin.pid}", "last=5s&type=rss"):
            answer = self.daemon.get(f"/profile?{query}&comm=no-such-name")
            self.assertEqual(answer.status, 404, query)
            self.assertRegex(answer.text, r"^no process or thread is called no-such-name, .*\n$")
        # One known name of two is enough, and so is a process that does nothing.
        self.assert_spin(self.daemon.profile("last=5s&comm=no-such-name&comm=spin60_30_10"))
        with Workload("sleepers", 1):
            self.assertEqual(self.daemon.get("/profile?seconds=1&comm=sleepers").status, 200)

    def test_a_name_that_comes_while_it_is_asked_for(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(self.daemon.profile, "seconds=4&comm=pingpong")
            time.sleep(1)
            with Workload("pingpong", 3600) as workload:
                wait_used(workload, 0.3)
            self.assertGreater(answer.result().total(), 0)

    def test_kernel_0_has_no_kernel_frames(self):
        with Workload("syscalls", 3600) as calls:
            start = time.time()
            wait_used(calls, 0.5)
            wait_used(self.spin, 0.5)
            everything = self.daemon.profile(f"from={start:.3f}")
            user = self.daemon.profile(f"from={start:.3f}&kernel=0")
        kernel = [m for s in everything.samples for m in s.mappings if m.startswith("[kernel")]
        self.assertTrue(kernel, {m for s in everything.samples for m in s.mappings})
        self.assertEqual([m for s in user.samples for m in s.mappings if m.startswith("[kernel")], [])
        self.assert_spin(user)

    def test_idle(self):
        # The expected count is the profile's own: a CPU that sleeps for lack of work may leave out ticks, so it cannot be
        # known from outside.
        without = self.daemon.profile("last=10m")
        shown = self.daemon.profile("last=10m&idle=1")
        self.assertFalse(any("[idle]" in sample.names for sample in without.samples))
        idle = shown.total(where=lambda sample: sample.names == ["[idle]"])
        account = next(comment for comment in shown.comments if comment.startswith("ticks="))
        self.assertIn(f" idle={idle} ", account)

    def test_format_folded(self):
        answer = self.daemon.get(f"/profile?last=5s&format=folded&pid={self.spin.pid}")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        chain = ";".join(["main"] + [f"level{i:02}" for i in range(1, 13)] + ["hot60"])
        lines = answer.text.splitlines()
        self.assertTrue([line for line in lines if f"{chain} " in line], answer.text[:500])
        for line in lines:
            stack, count = line.rsplit(" ", 1)
            self.assertTrue(stack and int(count) > 0, line)

    def test_format_text(self):
        answer = self.daemon.get(f"/profile?last=5s&format=text&pid={self.spin.pid}")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        lines = answer.text.splitlines()
        place = {leaf: next(i for i, line in enumerate(lines) if leaf in line) for leaf in ("hot60", "hot30", "hot10")}
        self.assertTrue(place["hot60"] < place["hot30"] < place["hot10"], answer.text)

    def test_format_text_sort_and_rows(self):
        query = f"/profile?last=5s&format=text&pid={self.spin.pid}"
        flat = self.daemon.get(query + "&rows=1").text
        self.assertIn("hot60", flat)
        self.assertNotIn("hot30", flat)
        # Sorted by cum, callers come before their callees; all of the chain has 100 %.
        cum = self.daemon.get(query + "&sort=cum&rows=13").text
        self.assertIn("level01", cum)
        self.assertNotIn("hot10", cum)

    def test_head_of_cheap_endpoints(self):
        for path in ("/", "/healthz", "/readyz", "/status", "/metrics", "/processes", "/debug/pprof/"):
            with self.subTest(path):
                self.assertEqual(self.daemon.get(path).status, 200)
                head = self.daemon.request("HEAD", path)
                self.assertEqual((head.status, head.body), (200, b""))


class Endpoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def test_processes(self):
        with Workload("spin60_30_10") as spin:
            wait_used(spin, 1.5)
            answer = self.daemon.get("/processes")
        self.assertTrue(answer.headers["Content-Type"].startswith("application/json"))
        processes = answer.json()
        rows = processes if isinstance(processes, list) else processes["processes"]
        mine = [row for row in rows if row["pid"] == spin.pid]
        self.assertEqual(len(mine), 1)
        self.assertEqual(mine[0]["comm"], "spin60_30_10")
        self.assertGreater(mine[0]["cpu_percent"], 0)
        shares = [row["cpu_percent"] for row in rows]
        self.assertEqual(shares, sorted(shares, reverse=True), "the busiest come first")

    def test_processes_as_a_table(self):
        with Workload("spin60_30_10") as spin:
            wait_used(spin, 1.5)
            answer = self.daemon.get("/processes?format=text&cmdline=1")
            listed = self.daemon.get("/processes?format=json").json()
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        head, *lines = answer.text.splitlines()
        self.assertEqual(head.split(), ["pid", "CPU", "%", "GIL", "%", "RSS", "MiB", "swap", "MiB", "leaks", "process"])
        rows = {int(line.split()[0]): line.split() for line in lines}
        self.assertGreater(float(rows[spin.pid][1]), 0)
        self.assertIn("spin60_30_10", rows[spin.pid])
        self.assertIn(spin.pid, {row["pid"] for row in listed})
        self.assertEqual(self.daemon.get("/processes?format=xml").status, 400)

    def test_status(self):
        answer = self.daemon.get("/status")
        self.assertTrue(answer.headers["Content-Type"].startswith("application/json"))
        status = answer.json()
        self.assertGreater(status["counters"]["ticks"], 0)
        self.assertGreater(status["counters"]["samples"], 0)
        self.assertIn("version", status)
        for part in ("cost", "maps", "counters", "unwind", "readers", "python", "heaps", "recorder", "processes", "objects",
                     "names", "memory"):
            self.assertIsInstance(status[part], dict, part)
        self.assertIsNone(status["debuginfod"])
        self.assertLess(max(status["parked_requests"], status["lane_length"]), 100)

    def test_api_tells_what_is_answered(self):
        api = self.daemon.get("/api").json()
        index = self.daemon.get("/").text
        for endpoint in api["endpoints"]:
            self.assertIn(f"  {endpoint['example']} ", index)
            self.assertEqual(self.daemon.get(f"{endpoint['path']}?no-such=1").status, 400, endpoint)
        parameters = {row["path"]: {parameter["name"] for parameter in row["parameters"]} for row in api["endpoints"]}
        self.assertLess({"type", "format", "by", "last"}, parameters["/profile"])
        self.assertEqual(parameters["/api"], set())
        sources = [row["name"] for row in self.daemon.json("/status")["sources"]]
        self.assertEqual([kind["name"] for kind in api["kinds"] if "of" not in kind], sources)
        self.assertEqual([(kind["name"], kind["of"]) for kind in api["kinds"] if "of" in kind], [("wall", "offcpu"), ("lock", "offcpu")])
        for kind in api["kinds"]:
            values = self.daemon.profile(f"type={kind['name']}&last=1s").types
            self.assertEqual(values, [(value["type"], value["unit"]) for value in kind["values"]])
            for parameter, takes in (("idle", kind["idle"]), ("dims", kind["dims"])):
                status = self.daemon.get(f"/profile?type={kind['name']}&last=1s&{parameter}=1").status
                self.assertEqual(status, 200 if takes else 400, (kind, parameter))
        for form in api["formats"]:
            answer = self.daemon.get(f"/profile?last=1s&format={form['name']}")
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, form["content_type"]))
            status = self.daemon.get(f"/profile?last=1s&format={form['name']}&by={api['by'][-1]}").status
            self.assertEqual(status, 200 if form["rows"] else 400, form)

    def test_metrics_please_promtool(self):
        metrics = self.daemon.get("/metrics")
        self.assertTrue(metrics.headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        result = subprocess.run(
            ["promtool", "check", "metrics"], input=metrics.body, capture_output=True, check=False
        )
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))

    def test_index_lists_the_endpoints(self):
        text = self.daemon.get("/").text
        for path in ("/profile", "/processes", "/status", "/metrics", "/healthz", "/readyz"):
            self.assertIn(path, text)
