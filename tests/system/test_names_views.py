# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Labels of samples by real cgroups; tables of lines, files and processes."""

import os
import re
import subprocess
import tempfile
import time
import unittest

import daemon
from cgroups import Cgroup
from pprof import pprof, top_shares
from workload import Workload, workload_path

BESIDE = True
ID = "0123456789abcdef" * 4
UID = "6c2b4a7e-1f0d-4c55-9b0e-1a2b3c4d5e6f"
ROW = re.compile(r"^\s*\S+\s+([\d.]+)%\s+[\d.]+%\s+\S+\s+([\d.]+)%  (.*)$", re.M)


def rows(text):
    """Returns name -> (flat %, cum %) of a table."""
    return {name: (float(flat), float(cum)) for flat, cum, name in ROW.findall(text)}


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()
        cls.spin = Workload("spin60_30_10", 3600, 15)
        cls.addClassCleanup(cls.spin.__exit__)
        time.sleep(7)  # so that the fork, when the process was still python3, is more than 5 s ago

    def table(self, by, query="last=5s", **extra):
        words = "&".join(f"{name}={value}" for name, value in extra.items())
        answer = self.daemon.get(f"/profile?{query}&pid={self.spin.pid}&format=text&by={by}&{words}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.text

    def test_function(self):
        table = rows(self.table("function"))
        for leaf, share in (("hot60", 60), ("hot30", 30), ("hot10", 10)):
            self.assertAlmostEqual(table[leaf][0], share, delta=8)
        self.assertAlmostEqual(table["main"][1], 100, delta=2)

    def test_line(self):
        table = rows(self.table("line"))
        shares = {}
        for name, (flat, _) in table.items():
            match = re.match(r"(hot\d+) (\S*)spin60_30_10\.c:(\d+)(?:  (.*))?$", name)
            if not match:
                continue
            leaf, folder, number, shown = match.groups()
            shares[leaf] = shares.get(leaf, 0) + flat
            # A compiler that was given a relative name may record that name, which profd does not look up.
            if folder.startswith("/"):
                with open(f"{folder}spin60_30_10.c", encoding="utf-8") as file:
                    self.assertEqual(shown, file.read().splitlines()[int(number) - 1].strip()[:100])
        for leaf, share in (("hot60", 60), ("hot30", 30), ("hot10", 10)):
            self.assertAlmostEqual(shares[leaf], share, delta=8, msg=table)

    def test_file(self):
        table = rows(self.table("file"))
        name, (flat, cum) = max(table.items(), key=lambda row: row[1][0])
        self.assertTrue(name.endswith("/spin60_30_10.c"), table)
        self.assertGreater(flat, 90)
        self.assertLessEqual(cum, 100.01)

    def test_binary(self):
        table = rows(self.table("binary"))
        flat, cum = table[workload_path("spin60_30_10")]
        self.assertGreater(flat, 90)
        self.assertAlmostEqual(cum, 100, delta=2)

    def test_process_and_thread(self):
        pid = self.spin.pid
        self.assertEqual(rows(self.table("process")), {f"spin60_30_10 ({pid})": (100, 100)})
        self.assertEqual(rows(self.table("thread")), {f"spin60_30_10/spin60_30_10 ({pid})": (100, 100)})

    def test_rows_and_words(self):
        text = self.table("file", rows=1)
        self.assertLessEqual(len(rows(text)), 1)
        for query, says in (
            ("format=text&by=stack", "binary"), ("format=text&by=", "by="),
            ("by=line", "format=text"), ("format=folded&by=file", "format=text"),
        ):
            with self.subTest(query):
                answer = self.daemon.get("/profile?last=1s&" + query)
                self.assertEqual(answer.status, 400)
                self.assertIn(says, answer.text)


class Whose(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def spin_in(self, path):
        """Starts a workload and moves it to the cgroup while it runs."""
        cgroup = Cgroup(path)
        self.addCleanup(cgroup.__exit__)
        spin = Workload("spin60_30_10", 3600, 0)
        self.addCleanup(spin.__exit__)
        cgroup.add(spin.pid)
        return spin

    def labels(self, profile, pid):
        return {
            tuple(sample.labels.get(key, "") for key in ("unit", "container", "pod"))
            for sample in profile.samples if sample.labels["pid"] == pid
        }

    def test_labels_and_filters(self):
        service = self.spin_in("system.slice/profd-test-a.service")
        container = self.spin_in(f"system.slice/docker-{ID}.scope")
        pod = self.spin_in(
            f"kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{ID[::-1]}.scope"
        )
        time.sleep(3)  # by then profd has noticed the move
        profile = self.daemon.profile("seconds=3")
        self.assertEqual(self.labels(profile, service.pid), {("profd-test-a.service", "", "")})
        self.assertEqual(self.labels(profile, container.pid), {(f"docker-{ID}.scope", ID[:12], "")})
        self.assertEqual(
            self.labels(profile, pod.pid), {(f"cri-containerd-{ID[::-1]}.scope", ID[::-1][:12], UID)}
        )
        for query, pids in (
            ("unit=profd-test-a.service", {service.pid}),
            (f"unit=profd-test-a.service&unit=docker-{ID}.scope", {service.pid, container.pid}),
            (f"container={ID}", {container.pid}), (f"container={ID[:12]}", {container.pid}),
            (f"container={ID[:4]}", {container.pid}), (f"container={ID[:3]}", set()),
            (f"pod={UID}", {pod.pid}), (f"pod={UID}&container={ID}", set()),
            ("unit=profd-test", set()),
        ):
            with self.subTest(query):
                kept = self.daemon.profile("last=3s&" + query)
                self.assertEqual({sample.labels["pid"] for sample in kept.samples}, pids)
                wanted = "filter: " + " ".join(query.split("&"))
                self.assertEqual(set(wanted.split()), set(next(
                    comment for comment in kept.comments if comment.startswith("filter:")
                ).split()))
        listed = {entry["pid"]: entry for entry in self.daemon.get("/processes").json()}
        self.assertEqual(listed[pod.pid]["pod"], UID)
        self.assertEqual(listed[container.pid]["container"], ID[:12])
        self.assertEqual(listed[service.pid]["unit"], "profd-test-a.service")

    def test_go_tool_pprof_reads_them(self):
        spin = self.spin_in("system.slice/profd-test-go.service")
        with Workload("mangled") as other:
            time.sleep(3)
            answer = self.daemon.get(f"/profile?seconds=2&pid={spin.pid}&pid={other.pid}")
        self.assertEqual(answer.status, 200)
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(answer.body)
            file.flush()
            tags = pprof("-tags", file.name)
            shares = top_shares(pprof("-top", "-tagfocus", "unit=profd-test-go.service", file.name))
            others = top_shares(pprof("-top", "-tagignore", "unit=profd-test-go.service", file.name))
        self.assertIn("profd-test-go.service", tags)
        self.assertIn("hot60", shares)
        self.assertNotIn("hot60", others)
        self.assertEqual(spin.process.poll(), None)

    def test_a_short_lived_child_is_where_its_parent_is(self):
        with Cgroup("system.slice/profd-test-short.service") as cgroup:
            # The shell joins the cgroup and execs, as the launcher of a service or a container does.
            script = f'echo $$ >"$1"; exec sh -c "for i in $(seq -s " " 20); do {workload_path("short50ms")}; done"'
            procs = os.path.join(cgroup.folder, "cgroup.procs")
            with subprocess.Popen(["sh", "-c", script, "sh", procs], stdout=subprocess.DEVNULL):
                profile = self.daemon.profile("seconds=2&comm=short50ms")
        whose = [sample.labels.get("unit", "") for sample in profile.samples]
        self.assertTrue(whose)
        self.assertEqual(set(whose), {"profd-test-short.service"})
