# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Labels of samples by real cgroups; tables of lines, files and processes; and source files."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import daemon
from daemon import Daemon
from pprof import pprof, top_shares
from proc_files import fork_with_pid
from test_clients import as_user, curl
from workload import Workload, workload_path

BESIDE = LONG = True
ID = "0123456789abcdef" * 4
LOOP = "import time\nprint('ready', flush=True)\nwhile True:\n    sum(range(300000))\n    time.sleep(0.02)\n"
UID = "6c2b4a7e-1f0d-4c55-9b0e-1a2b3c4d5e6f"
ROW = re.compile(r"^\s*\S+\s+([\d.]+)%\s+[\d.]+%\s+\S+\s+([\d.]+)%  (.*)$", re.M)


def cgroup_root():
    """Returns a hierarchy that names units and containers: systemd's own where there is one, else the unified one."""
    with open("/proc/self/mounts", encoding="ascii", errors="replace") as mounts:
        mounted = [line.split() for line in mounts]
    for _, folder, kind, options, *_ in mounted:
        if kind == "cgroup" and "name=systemd" in options.split(","):
            return folder
    for _, folder, kind, *_ in mounted:
        if kind == "cgroup2":
            return folder
    raise AssertionError("no cgroup hierarchy is mounted")


class Cgroup:
    """A cgroup of that path; the end of the with block removes it and the parents that it made."""

    def __init__(self, path):
        self.made = []
        folder = cgroup_root()
        for name in path.split("/"):
            folder = os.path.join(folder, name)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder)
                self.made.append(folder)
        self.folder = folder

    def add(self, pid):
        with open(os.path.join(self.folder, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(pid))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for folder in reversed(self.made):
            for _ in range(100):  # a killed member leaves a moment after it has been waited for
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
                    break
                time.sleep(0.02)


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
        with Workload("mangled"):
            time.sleep(3)
            answer = self.daemon.get("/profile?seconds=2")
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


class Sources(unittest.TestCase):
    """Programs that name arbitrary files as their sources."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()
        cls.folder = tempfile.TemporaryDirectory(prefix="profd-source-")
        cls.addClassCleanup(cls.folder.cleanup)
        os.chmod(cls.folder.name, 0o755)
        cls.code = "\n".join(["int main(void)", "{", "\tfor (volatile long i = 0;; i++)", "\t\t;", "}", ""])
        cls.good = cls.put("good.c", cls.code)
        cls.secret = cls.put("secret.c", cls.code, 0o600)
        cls.huge = cls.put("huge.c", cls.code)
        os.truncate(cls.huge, 1 << 40)
        cls.inner = os.path.join(cls.folder.name, "inner")
        os.mkdir(cls.inner, 0o700)
        cls.hidden = cls.put("inner/hidden.c", cls.code)
        cls.link = os.path.join(cls.folder.name, "link.c")
        os.symlink("/etc/shadow", cls.link)
        cls.fifo = os.path.join(cls.folder.name, "fifo.c")
        os.mkfifo(cls.fifo)
        os.chmod(cls.fifo, 0o666)
        cls.gone = os.path.join(cls.folder.name, "gone.c")
        cls.climbing = f"{cls.folder.name}/../..{cls.folder.name}/good.c"
        named = [cls.good, cls.secret, cls.huge, cls.hidden, cls.link, cls.fifo, cls.gone, cls.climbing,
                 "/etc/shadow", cls.folder.name, "/proc/kallsyms", "/dev/zero"]
        programs = [cls.run_named(number, name) for number, name in enumerate(named)]
        # profd knows a source file once a profile names it.
        answer = cls.daemon.get("/profile?seconds=2")
        for program in programs:  # the programs stay, for their root folder, but stop spinning
            program.send_signal(signal.SIGSTOP)
        assert answer.status == 200, answer.text

    @classmethod
    def put(cls, name, text, mode=0o644):
        path = os.path.join(cls.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    @classmethod
    def run_named(cls, number, name):
        program = os.path.join(cls.folder.name, f"program{number}")
        subprocess.run(
            ["gcc", "-g", "-O0", "-x", "c", "-o", program, "-"],
            input=f'#line 1 "{name}"\n{cls.code}', text=True, check=True,
        )
        process = subprocess.Popen([program])
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)
        return process

    def source(self, file, **words):
        query = urllib.parse.urlencode({"file": file, **words})
        answer = self.daemon.get("/source?" + query)
        self.assertTrue(self.daemon.alive())
        self.assertLess(answer.seconds, 2)
        return answer

    def test_lines(self):
        answer = self.source(self.good)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.json(), {"file": self.good, "first": 1, "lines": self.code.splitlines()})
        middle = self.source(self.good, line=3, lines=2).json()
        self.assertEqual((middle["first"], middle["lines"]), (3, self.code.splitlines()[2:4]))
        middle = self.source(self.good, line=3, lines=3).json()
        self.assertEqual((middle["first"], middle["lines"]), (2, self.code.splitlines()[1:4]))
        self.assertEqual(self.source(self.good, line=99).status, 404)
        self.assertEqual(self.source(self.climbing).json()["lines"], self.code.splitlines())

    def test_what_is_not_everybodys(self):
        for file in (self.secret, self.hidden, self.link, "/etc/shadow"):
            with self.subTest(file):
                answer = self.source(file)
                self.assertEqual(answer.status, 403, answer.text)
                self.assertNotIn("main", answer.text)
                self.assertNotIn("root:", answer.text)

    def test_what_is_no_source(self):
        for file in (self.fifo, self.folder.name, "/proc/kallsyms", "/dev/zero", self.gone):
            with self.subTest(file):
                answer = self.source(file)
                self.assertEqual(answer.status, 404, answer.text)
                self.assertEqual(len(answer.text.splitlines()), 1)

    def test_what_nothing_names(self):
        for file in ("/etc/passwd", "/etc/hostname", self.good + "x", self.good + "/../good.c"):
            with self.subTest(file):
                answer = self.source(file)
                self.assertEqual(answer.status, 404, answer.text)
                self.assertIn("no profile so far names", answer.text)

    def test_huge(self):
        before = self.daemon.rss_kib()
        answer = self.source(self.huge, lines=2000)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.json()["lines"][:5], self.code.splitlines())
        self.assertLess(len(answer.body), 2 << 20)
        self.assertLess(self.daemon.rss_kib() - before, 64 << 10)

    def test_bad_parameters(self):
        for query, says in (
            ("", "file="), ("file=", "file="), ("file=good.c", "absolute"), ("file=/a&line=0", "line=0"),
            ("file=/a&lines=0", "lines=0"), ("file=/a&lines=2001", "2000"), ("file=/a&line=-1", "line"),
            ("file=/a&line=1e9", "line"), ("file=/a&file=/b", "twice"), ("file=/a&x=1", "unknown"),
            ("file=/" + "a" * 5000, "4096"), ("file=/a%00b", "NUL"),
        ):
            with self.subTest(query[:40]):
                answer = self.daemon.get("/source?" + query)
                self.assertEqual(answer.status, 400, answer.text)
                self.assertIn(says, answer.text)

    def test_lines_of_such_files_are_not_shown(self):
        answer = self.daemon.get("/profile?last=1m&format=text&by=line&comm=program1")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertIn(self.secret, answer.text)
        self.assertNotIn("volatile", answer.text)
        shown = self.daemon.get("/profile?last=1m&format=text&by=line&comm=program0").text
        self.assertRegex(shown, r"main \S+/good\.c:3  for \(volatile long i = 0;; i\+\+\)\n")


class ToldSource(unittest.TestCase):
    """A source file that only a process itself has named."""

    def test_another_process_with_its_number(self):
        with tempfile.TemporaryDirectory(prefix="profd-told-") as folder, Daemon() as server:
            os.chmod(folder, 0o755)
            path, root = os.path.join(folder, "app.py"), os.path.join(folder, "root")
            os.makedirs(root + folder)
            for of, text in ((path, LOOP), (root + path, "another's\n")):
                with open(of, "w", encoding="ascii") as file:
                    file.write(text)
            for top, _, _ in os.walk(root):
                os.chmod(top, 0o755)

            def source():
                answer = server.get("/source?" + urllib.parse.urlencode({"file": path}))
                return answer.status, answer.text

            with Workload(sys.executable, path) as told:
                end = time.monotonic() + 60
                while source()[0] != 200 and time.monotonic() < end:
                    server.get(f"/profile?seconds=2&pid={told.pid}")
                status, text = source()
                self.assertEqual(status, 200, text)
                self.assertIn("while True", text)
            self.assertEqual(source()[0], 404)
            fork_with_pid(told.pid, lambda: os.chroot(root))
            try:
                time.sleep(0.5)
                status, text = source()
                self.assertEqual(status, 404, text)
                self.assertIn("has ended", text)
            finally:
                os.kill(told.pid, signal.SIGKILL)
                os.waitpid(told.pid, 0)

    def test_each_container_has_its_own(self):
        mounted = 'mount --bind "$0" "$1" && exec "$2" "$1/app.py"'
        with tempfile.TemporaryDirectory(prefix="profd-app-") as folder, Daemon() as server, contextlib.ExitStack() as running:
            app, ids = os.path.join(folder, "app"), ("ab" * 32, "cd" * 32)
            for name in (folder, app, *(os.path.join(folder, container) for container in ids)):
                os.makedirs(name, exist_ok=True)
                os.chmod(name, 0o755)
            for container in ids:
                with open(os.path.join(folder, container, "app.py"), "w", encoding="ascii") as file:
                    file.write(f"{LOOP}# {container}\n")
                cgroup = running.enter_context(Cgroup(f"system.slice/docker-{container}.scope"))
                cgroup.add(running.enter_context(Workload(
                    shutil.which("unshare"), "-m", "sh", "-c", mounted, os.path.join(folder, container), app, sys.executable)).pid)
            time.sleep(3)  # by then profd has noticed the moves
            path = os.path.join(app, "app.py")

            def source(**words):
                return server.get("/source?" + urllib.parse.urlencode({"file": path, **words}))

            end = time.monotonic() + 60
            while source(container=ids[1][:12]).status != 200 and time.monotonic() < end:
                server.get("/profile?seconds=2")
            for container in ids:
                answer = source(container=container[:12])
                self.assertEqual(answer.status, 200, answer.text)
                self.assertIn(container, answer.text)
            for container in ("ef" * 6, ""):
                self.assertEqual(source(container=container).status, 404)
            self.assertEqual(source().status, 200)

    def test_who_mounts_for_himself(self):
        """A user's mount over a path of the host gives the source text only while no other process runs the host's file."""
        mounted = 'mount --bind "$0" "$1" && exec "$2" "$1"'
        with tempfile.TemporaryDirectory(prefix="profd-bind-") as folder, Daemon() as server, contextlib.ExitStack() as running:
            os.chmod(folder, 0o755)
            for name in ("true", "false"):
                with open(os.path.join(folder, f"{name}.py"), "w", encoding="ascii") as file:
                    file.write(f"{LOOP}# {name}\n")
            path = os.path.join(folder, "true.py")
            forger = (shutil.which("unshare"), "--user", "--map-root-user", "--mount", "sh", "-c", mounted,
                      os.path.join(folder, "false.py"), path, sys.executable)

            def shown():
                server.get("/profile?seconds=1")
                return server.get(f"/source?file={path}").text

            def until_shown(text):
                end = time.monotonic() + 60
                while text not in shown() and time.monotonic() < end:
                    pass
                self.assertIn(text, shown())

            running.enter_context(Workload(*forger))
            until_shown("# false")
            running.enter_context(Workload(sys.executable, path))
            until_shown("# true")
            running.enter_context(Workload(*forger))
            for _ in range(4):
                self.assertIn("# true", shown())


class PrivateSource(unittest.TestCase):
    """The source of a program whose root folder only root can enter, with files that every user may read there."""

    def test_who_may_see_it(self):
        owner, stranger = 54321, 54322
        with tempfile.TemporaryDirectory(prefix="profd-private-") as folder, contextlib.ExitStack() as running:
            root = os.path.join(folder, "root")
            os.makedirs(os.path.join(root, "src"))
            for path in (root, os.path.join(root, "src")):
                os.chmod(path, 0o755)
            source = "int main(void)\n{\n\tfor (volatile long i = 0;; i++)\n\t\t;\n}\n"
            with open(os.path.join(root, "src/secret.c"), "w", encoding="ascii") as file:
                file.write(source)
            os.chmod(os.path.join(root, "src/secret.c"), 0o644)
            subprocess.run(["gcc", "-g", "-O0", "-static", "-x", "c", "-o", os.path.join(root, "secretive"), "-"],
                           input='#line 1 "/src/secret.c"\n' + source, text=True, check=True)

            def start():
                os.chroot(root)
                os.chdir("/")
                os.setgroups([])
                os.setgid(owner)
                os.setuid(owner)

            program = subprocess.Popen(["/secretive"], preexec_fn=start)
            running.callback(program.wait)
            running.callback(program.kill)
            server = running.enter_context(Daemon())
            table = "/profile?last=1m&format=text&by=line&comm=secretive"
            answer = server.get("/profile?seconds=2")
            self.assertEqual(answer.status, 200)
            for user, status, shown in ((0, 200, True), (owner, 200, True), (stranger, 403, False)):
                with self.subTest(user):
                    got, body = curl(f"{server.url}/source?file=/src/secret.c", through=as_user(user))
                    self.assertEqual(got, status, body)
                    self.assertEqual("volatile" in body, shown, body)
                    got, body = curl(server.url + table, through=as_user(user))
                    self.assertEqual(got, 200, body)
                    self.assertIn("/src/secret.c:3", body)
                    self.assertEqual("volatile" in body, shown, body)
