# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Any user can choose hostile names for a program: markup, terminal sequences, line ends, separators, bytes that are no text,
and very long names. profd's answers are harmless in every format, and still describe the program.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import daemon
from pprof import pprof
from profile_pb import Profile, _fields
from workload import Workload, wait_used, workload_path

BESIDE = True
# As long as the workload's own symbols; a symbol cannot contain NUL.
SYMBOLS = [
    b"<script>alert(1)</script><img src=x onerror=alert(2)>",
    b"\x1b[31m\x1b]0;title\x07\x1b[2J\x9b31m\xc2\x9b31m\x08\x7f",
    b"line\nfeed;and\r\nreturn;profd: error: made up\n# TYPE a b\n",
    b"invalid\xff\xfe\xc3\x28\xed\xa0\x80\xf5\x80\xe2\x82",
    b"\"quotes\" 'single' `back` \\ \\n \\\" ${HOME} $(id) %s %n",
    b"semi;colons;and blanks 17\ttabs;",
    b"\xe2\x80\xae\xf0\x9f\x92\xa9 {\"json\": [1, 2]}, label=\"x\"} 1",
]
COMM = b"<b>;\n\x1b[31m\"\xff\\"
FOLDER = b"<script>\n\x1b]0;x\x07\"; \xff\\"
LONG = b"long" + b"y<\n\x1b" * 2499
# Maps a file executable until its input ends.
MAPS = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    area = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
sys.stdin.read()
"""
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


def padded(symbol):
    return symbol.ljust(64, b"z")


def expected(name, separator=None):
    """Returns the name as profd must show it: decoded as UTF-8 by the standard library, each invalid byte replaced."""
    text = name.decode("utf-8", "surrogateescape")
    text = "".join("\ufffd" if "\udc80" <= c <= "\udcff" else " " if CONTROLS.match(c) else c for c in text)
    return text.replace(separator, ":") if separator else text


def build(folder):
    """Builds the workload with these names and without debug information; returns its path."""
    path = os.path.join(os.fsencode(folder), FOLDER, b"prog\n\xff")
    os.mkdir(os.path.dirname(path))
    plain = os.path.join(folder, "plain")
    # The build ID goes too: with it, profd would take the file for the original.
    subprocess.run(["strip", "-g", "-R", ".note.gnu.build-id", "-o", plain, workload_path("hostile")], check=True)
    with open(plain, "rb") as file:
        data = file.read()
    for i, symbol in enumerate(SYMBOLS):
        own = (b"hostile_%d" % i).ljust(64, b"x")
        assert data.count(own) == 1 and len(padded(symbol)) == 64
        data = data.replace(own, padded(symbol))
    own = b"hostile_7".ljust(10000, b"x")
    assert data.count(own) == 1 and len(LONG) == 10000
    with open(path, "wb") as file:
        file.write(data.replace(own, LONG))
    os.chmod(path, 0o755)
    return path


class HostileNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.daemon = daemon.shared()
        cls.program = Workload("hostile", os.fsdecode(COMM), executable=build(folder))
        cls.addClassCleanup(cls.program.__exit__)
        wait_used(cls.program, 1)

    def get(self, target):
        answer = self.daemon.get(target)
        self.assertEqual(answer.status, 200, answer.body[:300])
        return answer.body

    def lines(self, target):
        """Returns the lines of a text answer, which must be valid UTF-8 without other control characters."""
        text = self.get(target).decode("utf-8", "strict")
        self.assertEqual(CONTROLS.sub("", text.replace("\n", "")), text.replace("\n", ""), target)
        return text.split("\n")[:-1]

    def query(self, rest):
        return f"/profile?last=1m&pid={self.program.pid}&{rest}"

    def test_folded(self):
        names = [expected(padded(symbol), ";") for symbol in SYMBOLS] + [expected(LONG, ";")]
        whole = early = 0
        for line in self.lines(self.query("format=folded")):
            path, _, count = line.rpartition(" ")
            frames = path.split(";")
            self.assertGreater(int(count), 0)
            self.assertEqual(frames[0], expected(COMM, ";"))
            if names[0] in frames:
                start = frames.index(names[0])
                found = frames[start:start + len(names)]
                self.assertEqual(found[:-1], names[:-1])
                # Until libc's unwind table is built, the function that calls libc, without a frame pointer, is missing.
                if found[-1] == names[-1]:
                    whole += int(count)
                else:
                    early += int(count)
        self.assertGreater(whole, 30)
        self.assertLessEqual(early, 2)

    def test_text(self):
        for by in ("function", "line", "file", "binary", "process", "thread"):
            for kind in ("cpu", "rss"):
                with self.subTest(f"{by} {kind}"):
                    lines = self.lines(self.query(f"format=text&rows=0&type={kind}&by={by}"))
                    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
                    for line in lines[head + 1:]:
                        self.assertRegex(line, r"^ +\S+ +[\d.]+% +[\d.]+% +\S+ +[\d.]+%  ")
                    if by == "function":
                        self.assertIn(expected(padded(SYMBOLS[0])), "\n".join(lines))

    def test_pprof(self):
        body = self.get(self.query("format=pprof"))
        strings = [value for number, value in _fields(gzip.decompress(body)) if number == 6]
        for string in strings:
            self.assertIsNone(CONTROLS.search(string.decode("utf-8", "strict")), string)
        texts = {string.decode() for string in strings}
        for name in (*map(padded, SYMBOLS), LONG, COMM, FOLDER):
            self.assertTrue(any(expected(name) in text for text in texts), name)
        self.assertGreater(Profile(body).total(), 30)

    def test_go_tool_pprof(self):
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(self.get(self.query("format=pprof")))
            file.flush()
            for view in ("-top", "-traces", "-raw"):
                text = pprof(view, file.name).replace("\n", "").replace("\t", "")
                self.assertIsNone(CONTROLS.search(text), view)

    def test_perfetto(self):
        data = gzip.decompress(self.get(self.query("format=perfetto")))
        self.assertIn(expected(padded(SYMBOLS[0])).encode(), data)
        self.assertIn(expected(padded(SYMBOLS[1])).encode(), data)
        for name in (*SYMBOLS[1:4], LONG, COMM):
            self.assertNotIn(name, data)

    def test_json(self):
        start, found = time.monotonic(), ""
        while expected(padded(SYMBOLS[0])) not in found:  # memory is read once a second
            found = json.dumps(self.check_json(f"/memory?pid={self.program.pid}"), ensure_ascii=False)
            self.assertLess(time.monotonic(), start + 30, found[:2000])
        for target in ("/processes", "/processes?cmdline=1", "/timeline", f"/timeline?pid={self.program.pid}", "/oom", "/status"):
            self.check_json(target)
        table = self.get("/processes?format=text&cmdline=1").decode("utf-8", "strict")
        self.assertIsNone(CONTROLS.search(table.replace("\n", "")))
        self.assertTrue(all(line.split()[0].isdigit() for line in table.splitlines()[1:]), table)
        row = next(row for row in self.daemon.json("/processes") if row["pid"] == self.program.pid)
        self.assertEqual(row["comm"], "<b>;\n?[31m\"?\\")

    def check_json(self, target):
        value = json.loads(self.get(target).decode("utf-8", "strict"))
        for text in self.texts(value):
            self.assertIsNone(CONTROLS.search(text.replace("\n", "").replace("\t", "")), (target, text))
        return value

    def texts(self, value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, dict)):
            for part in value.values() if isinstance(value, dict) else value:
                yield from self.texts(part)

    def test_a_file_called_like_a_driver(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(os.fsencode(folder), b"h\x1b[31mX\xff", b"libcuda.so.1")
            os.mkdir(os.path.dirname(path))
            shutil.copy(workload_path("cpubound"), path)
            program = subprocess.Popen([sys.executable, "-c", MAPS, path], stdin=subprocess.PIPE)
            self.addCleanup(program.communicate)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                self.check_json("/gpu")
                self.lines("/gpu?format=text")
                self.assertTrue(self.check_json("/status")["sources"])

    def test_metrics(self):
        for line in self.lines("/metrics"):
            self.assertRegex(line, r"^(#|(profd|process)_)")
        check = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics"), capture_output=True)
        self.assertEqual(check.returncode, 0, check.stderr)

    def test_refusals_and_headers(self):
        target = self.query("format=text").replace("format=text", "by=%3Cscript%3E%0d%0aX:%201%1b[31m%c2%9b31m%ff")
        answer = self.daemon.get(target)
        self.assertEqual(answer.status, 400)
        self.assertEqual(len(answer.text.splitlines()), 1)
        self.assertIsNone(CONTROLS.search(answer.text[:-1]), answer.text)

    def test_the_log(self):
        lines = self.daemon.log().split("\n")[:-1]
        for line in lines:
            self.assertTrue(line.startswith("profd: "), line)
            self.assertIsNone(CONTROLS.search(line), line)
