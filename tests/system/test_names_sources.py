# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Who may see which lines of source files."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import daemon
from cgroups import Cgroup
from daemon import Daemon
from proc_files import fork_with_pid
from test_clients import as_user, curl
from workload import Workload

BESIDE = True
LOOP = "import time\nprint('ready', flush=True)\nwhile True:\n    sum(range(300000))\n    time.sleep(0.02)\n"


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
