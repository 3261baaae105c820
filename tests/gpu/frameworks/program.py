# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the programs of programs/, sends them commands, and reads what they report of themselves."""

import atexit
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

from checking import FOLDER

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


class Program:
    """A running NAME_program.py. `lines` has the numbers of its lines that end in a comment `# -> MARK`."""

    started = []

    def __init__(self, name, label=None, user=None, folder=PROGRAMS, **environment):
        self.script = os.path.join(folder, f"{name}_program.py")
        self.label = label or name
        self.errors_path = os.path.join(FOLDER, f"stderr-{self.label}.txt")
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
        with open(self.errors_path, "wb") as errors:
            self.process = subprocess.Popen([sys.executable, self.script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            env=environment, cwd="/tmp", user=user)
        self.pid = self.process.pid
        self.pending = b""
        self.lines = {}
        with open(self.script, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if "# -> " in line:
                    self.lines[line.rpartition("# -> ")[2].strip()] = number
        Program.started.append(self)

    def alive(self):
        return self.process.poll() is None

    def errors(self):
        with open(self.errors_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def line(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{self.label} says nothing in {seconds} s; stderr: {self.errors()[-600:]}")
            if select.select([self.process.stdout], [], [], left)[0]:
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    raise RuntimeError(f"{self.label} ended {self.process.wait()}; stderr: {self.errors()[-1200:]}")
                self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode()

    def ready(self, seconds=60):
        while self.line(seconds) != "ready":  # libraries may print
            pass

    def begin(self, *command):
        self.process.stdin.write((" ".join(map(str, command)) + "\n").encode())
        self.process.stdin.flush()

    def answer(self, seconds=30):
        while True:
            line = self.line(seconds)
            if line.startswith("{"):
                said = json.loads(line)
                if "error" in said:
                    raise RuntimeError(f"{self.label}: {said['error']}")
                return said

    def tell(self, *command, seconds=30):
        self.begin(*command)
        return self.answer(seconds)

    def end(self):
        """Closes the program's input, at which it ends by itself. Returns its exit status, or "killed"."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            return self.process.wait(8)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "killed"


def end_all():
    for program in Program.started:
        program.end()


def readable_programs():
    """Returns a folder with copies of the programs that every user may read."""
    folder = tempfile.mkdtemp(prefix="profd-programs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in os.listdir(PROGRAMS):
        if name.endswith(".py"):
            os.chmod(shutil.copy(os.path.join(PROGRAMS, name), folder), 0o644)
    os.chmod(folder, 0o755)
    return folder
