# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The tools that read profiles: `go tool pprof` and protoc, run where no go.mod or setting affects them.

  pprof.py     makes Go build the tools that the tests use, where they are not built yet
"""

import os
import re
import shutil
import subprocess
import tempfile

from daemon import BUILD, ROOT

# Newer Go releases build pprof and addr2line at their first use, and GOCACHE keeps the build. Building takes a minute on two
# CPUs.
PATIENCE = 600
ENVIRONMENT = {
    **os.environ,
    "GOCACHE": os.path.join(BUILD, "go-cache"),
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "",
    "GO111MODULE": "off",
}
if os.path.isdir("/usr/local/go/bin"):
    ENVIRONMENT["PATH"] += ":/usr/local/go/bin"


def pprof(*arguments):
    """Returns the output of `go tool pprof ARGUMENTS`; a failure fails the test."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**ENVIRONMENT, "PPROF_TMPDIR": folder}
        environment.setdefault("HOME", folder)
        result = subprocess.run(
            ["go", "tool", "pprof", *arguments],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )
    if result.returncode != 0:
        raise AssertionError(f"go tool pprof {' '.join(arguments)}: {result.stderr}")
    return result.stdout


def top_shares(output):
    """Returns function -> (flat %, cum %) from the table of -top."""
    rows = re.findall(r"^\s*\S+\s+([\d.]+)%\s+[\d.]+%\s+\S+\s+([\d.]+)%\s+(.*?)\s*$", output, re.M)
    return {name: (float(flat), float(cum)) for flat, cum, name in rows}


def traces(output):
    """Returns the stacks of -traces, each a list of names from leaf to root."""
    stacks = []
    for block in re.split(r"^-+\+-+\n", output, flags=re.M)[1:]:
        lines = [line for line in block.splitlines() if line.strip()]
        # Labels are lines of "key:value" above the first line that has the value and the leaf.
        names = [
            line[13:].strip() for line in lines if not re.match(r"^\s+\w+:\s", line) and line[13:].strip()
        ]
        if names:
            stacks.append(names)
    return stacks


def protoc_decode(data):
    """Returns an uncompressed profile as protoc reads it by the published schema."""
    return subprocess.run(
        ["protoc", "--decode=perftools.profiles.Profile", f"--proto_path={ROOT}/proto", "profile.proto"],
        input=data, capture_output=True, check=True,
    ).stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    # The command prints the path of a tool, and builds the tool for that. Where Go is missing, the tests report it.
    if shutil.which("go", path=ENVIRONMENT["PATH"]):
        for tool in ("pprof", "addr2line"):
            subprocess.run(["go", "tool", "-n", tool], cwd="/", env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
