# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The programs whose slowdown is measured: commands that do a fixed amount of work and end.

`command(count)` does the work `count` times. `first` is a count that takes about a tenth of a second; slowdown.py derives
from it a count that takes long enough.
"""

import collections
import os
import shutil
import subprocess
import sys

from daemon import ROOT
from workload import workload_path

Row = collections.namedtuple("Row", "name title first command environment")

SHELL_LOOP = 300
COMMITS, FILES = 300, 1500
SOURCE = os.path.join(ROOT, "tests", "workloads", "pingpong.c")
QUIET_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000",
}

# Kinds of workloads/fixed_work. The kind "touch" touches 16 MiB.
KINDS = (
    ("forkexec", "fork + exec + exit of /bin/true", 150, "exec"),
    ("fork", "fork + exit", 400, "fork"),
    ("touch", "touching new pages of 4 KiB", 10, "touch"),
    ("mmap", "mmap and munmap of 64 KiB", 20000, "map"),
    ("cpu", "CPU-bound", 80000, "cpu"),
    ("pingpong", "ping-pong over pipes, on one CPU", 15000, "pingpong"),
    ("getppid", "getppid", 500000, "getppid"),
)


def kind(word):
    return lambda count: [workload_path("fixed_work"), word, str(count)]


def repeated(*argv):
    return lambda count: [workload_path("fixed_work"), "run", str(count), *argv]


def make_repository(folder):
    """Makes a git repository of FILES files in 30 folders, with COMMITS commits that each change some of them."""
    git = ["git", "-C", folder]
    environment = {**os.environ, **QUIET_GIT}
    stream = []
    for commit in range(COMMITS):
        stream.append(f"commit refs/heads/main\ncommitter bench <bench@localhost> {1700000000 + commit} +0000\n"
                      f"data <<END\nchange {commit}\n\nEND\n")
        for file in range(FILES) if commit == 0 else range(commit % 50, FILES, 50):
            text = f"{file} as of {commit}\n" + "".join(f"line {line} of {file * 7 % 97}\n" for line in range(40))
            stream.append(f"M 100644 inline folder{file % 30}/file{file}.c\ndata {len(text)}\n{text}\n")
    subprocess.run(["git", "init", "-q", folder], check=True, env=environment)
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(stream).encode(), check=True, env=environment)
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/main"], check=True, env=environment)
    subprocess.run([*git, "reset", "-q", "--hard"], check=True, env=environment)


def all_rows(folder):
    """Returns every Row that this machine can run, and the names of the others with what is missing. `folder` is an empty
    folder for the files that the rows need."""
    rows = [Row(name, title, first, kind(word), {}) for name, title, first, word in KINDS]
    loop = f"i=0; while [ $i -lt {SHELL_LOOP} ]; do /bin/true; i=$((i+1)); done"
    rows.insert(1, Row("shell", f"a shell's loop of {SHELL_LOOP} /bin/true", 1, repeated("sh", "-c", loop), {}))
    missing = []
    others = [Row("python", "python3 -c pass", 6, repeated(sys.executable, "-I", "-c", "pass"), {})]
    if shutil.which("git"):
        repository = os.path.join(folder, "repository")
        make_repository(repository)
        git = ("git", "-C", repository)
        others[:0] = [
            Row("git-status", f"git status of {FILES} files", 10, repeated(*git, "status", "--short"), QUIET_GIT),
            Row("git-log", f"git log of {COMMITS} commits", 2, repeated(*git, "log", "--stat"), QUIET_GIT),
        ]
    else:
        missing.append("git-status, git-log (no git)")
    if shutil.which("gcc"):
        compile_one = ("gcc", "-D_GNU_SOURCE", "-O2", "-c", SOURCE, "-o", os.path.join(folder, "object.o"))
        others.append(Row("gcc", "gcc of a small C file", 2, repeated(*compile_one), {}))
    else:
        missing.append("gcc (not installed)")
    at = next(index for index, row in enumerate(rows) if row.name == "cpu")
    return rows[:at] + others + rows[at:], missing
