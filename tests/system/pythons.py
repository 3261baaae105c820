# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The CPythons of this machine, one of each version: the system's, pyenv's, uv's, those on PATH.

PYTHONS="/path/one /path/two" names others, which come first and may be scripts that exec one.
"""

import collections
import functools
import glob
import json
import os
import subprocess

from daemon import ROOT

SYSTEM = "/usr/bin/python3"
SCRIPTS = os.path.join(ROOT, "tests", "workloads", "python")
VERSIONS = range(8, 15)  # of 3.x, those that profd knows

# label is what profd calls it: "3.12". qualnames: functions are called by their qualified names.
Python = collections.namedtuple("Python", "path label minor free_threaded qualnames prefix")

ASK = """
import json, sys, sysconfig
if sys.implementation.name == "cpython":
    print(json.dumps([sys.version_info[:2], bool(sysconfig.get_config_var("Py_GIL_DISABLED")), sys.prefix]))
"""


def _ask(path):
    """A Python, or None where there is none at the path, or one that profd does not know."""
    try:
        answer = subprocess.run([path, "-S", "-c", ASK], capture_output=True, text=True, timeout=20, check=True)
        (major, minor), free_threaded, prefix = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if major != 3 or minor not in VERSIONS:
        return None
    return Python(path, f"3.{minor}", minor, free_threaded, minor >= 11, prefix)


def _candidates():
    yield from os.environ.get("PYTHONS", "").split()
    yield SYSTEM
    home = os.path.expanduser("~")
    yield from sorted(glob.glob(f"{home}/.pyenv/versions/*/bin/python3"))
    yield from sorted(glob.glob(f"{home}/.local/share/uv/python/*/bin/python3"))
    for folder in ["/usr/local/bin", *os.environ.get("PATH", "").split(":")]:
        for minor in VERSIONS:
            # A shim is a script that looks for an interpreter by itself; those have been found above.
            yield from (f"{folder}/python3.{minor}{t}" for t in ("", "t") if "/shims" not in folder)


@functools.cache
def pythons():
    """All of them, by version. The system's is always there, also where another is of its version."""
    found, seen = {}, set()
    for path in _candidates():
        real = os.path.realpath(path)
        if real in seen or not os.access(path, os.X_OK):
            continue
        seen.add(real)
        python = _ask(path)
        if python:
            found.setdefault((python.minor, python.free_threaded, path == SYSTEM), python)
    return [found[key] for key in sorted(found)]


def system_python():
    return next(python for python in pythons() if python.path == SYSTEM)


def name_of(python):
    """For messages and for telling them apart."""
    kind = "t" if python.free_threaded else ""
    return f"{python.label}{kind} {python.path}"


def script(name):
    return os.path.join(SCRIPTS, name + ".py")


def with_module(module):
    """A Python that can import it, or None: a virtual environment of the benchmarks, or one of pythons()."""
    from daemon import BUILD

    environments = [os.environ.get("PYTHON_VENV", ""), f"{BUILD}/bench-venv", f"{BUILD}/python-venv"]
    paths = [f"{folder}/bin/python3" for folder in environments if folder]
    paths += [python.path for python in pythons()]
    for path in filter(os.path.exists, paths):
        tried = subprocess.run([path, "-c", f"import {module}"], capture_output=True, check=False, timeout=60)
        if tried.returncode == 0:
            return _ask(path)
    return None
