# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Reads commands as lines: a name and numbers. Answers each with a line of JSON: what the command did, by its own account."""

import json
import sys
import time
import traceback

MIB = 1 << 20


def serve(commands):
    print("ready", flush=True)
    for line in sys.stdin:
        name, *arguments = line.split()
        began = time.perf_counter()
        try:
            said = commands[name](*map(int, arguments)) or {}
        except Exception:  # noqa: BLE001
            said = {"error": traceback.format_exc()[-1500:]}
        said["seconds"] = round(time.perf_counter() - began, 4)
        print(json.dumps(said), flush=True)
