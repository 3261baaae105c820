# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The CPythons of this machine, one of each version: the system's, pyenv's, uv's, and those on PATH.

PYTHONS="/path/one /path/two" names others, which come first; they may be scripts that exec an interpreter.
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
VERSIONS = range(8, 15)  # of 3.x, the versions that profd supports

# label is profd's name of the version: "3.12". qualnames: functions have qualified names.
Python = collections.namedtuple("Python", "path label minor free_threaded qualnames prefix")

ASK = """
import json, sys, sysconfig
if sys.implementation.name == "cpython":
    print(json.dumps([sys.version_info[:2], bool(sysconfig.get_config_var("Py_GIL_DISABLED")), sys.prefix]))
"""


def _ask(path):
    """Returns a Python, or None where the path has none, or one of a version that profd does not support."""
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
            # pyenv's shims are scripts that look for an interpreter; the lines above have found those interpreters.
            yield from (f"{folder}/python3.{minor}{t}" for t in ("", "t") if "/shims" not in folder)


@functools.cache
def pythons():
    """Returns all Pythons, by version. The system's is always included, even beside another one of the same version."""
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
    """Returns a unique name, for messages."""
    kind = "t" if python.free_threaded else ""
    return f"{python.label}{kind} {python.path}"


def script(name):
    return os.path.join(SCRIPTS, name + ".py")


def with_module(module):
    """Returns a Python that can import the module, or None: one of the benchmarks' virtual environments, or of pythons()."""
    from daemon import BUILD

    environments = [os.environ.get("PYTHON_VENV", ""), f"{BUILD}/bench-venv", f"{BUILD}/python-venv"]
    paths = [f"{folder}/bin/python3" for folder in environments if folder]
    paths += [python.path for python in pythons()]
    for path in filter(os.path.exists, paths):
        tried = subprocess.run([path, "-c", f"import {module}"], capture_output=True, check=False, timeout=60)
        if tried.returncode == 0:
            return _ask(path)
    return None
