# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures the share of whole stacks of `perf record --call-graph dwarf`, which copies the stack out instead."""

import collections
import os
import re
import shutil
import subprocess
import tempfile

from wholeness import NAMES, is_kernel, is_outermost

DUMP_BYTES = 65528  # the most that perf accepts
FRAME = re.compile(r"^\s*([0-9a-f]+) (.*) \((.*)\)$")

Result = collections.namedtuple("Result", "samples percent megabytes")


def root_is_outermost(root):
    address, name, path = FRAME.match(root).groups()
    # Where perf has no name, it prints the address within the executable file.
    return bool(NAMES.match(name)) or is_outermost(path, int(address, 16))


def measure(pid, hz, seconds):
    """Returns a Result for one process, or None where perf is not installed."""
    perf = shutil.which("perf")
    if perf is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        record = [perf, "record", "-q", "-e", "cpu-clock", "-F", str(hz), "-p", str(pid), "-o", data]
        record += [f"--call-graph=dwarf,{DUMP_BYTES}", "--", "sleep", str(seconds)]
        subprocess.run(record, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        megabytes = os.path.getsize(data) / 2**20
        script = [perf, "script", "-i", data, "-F", "ip,sym,dso", "--no-inline"]
        text = subprocess.run(script, check=True, capture_output=True, timeout=300).stdout.decode("utf-8", "replace")
    samples = whole = 0
    for block in text.split("\n\n"):
        frames = [line for line in block.splitlines() if FRAME.match(line)]
        if not frames or is_kernel(FRAME.match(frames[-1])[3]):
            continue
        samples += 1
        whole += root_is_outermost(frames[-1])
    return Result(samples, 100 * whole / samples if samples else float("nan"), megabytes)
