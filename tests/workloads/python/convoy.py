# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: the threads "first" and "second" only run Python, so each has the GIL for half of the time, and wants it for the
other half. The main thread hashes 64 MiB at a time, for which it gives the GIL up; in between it has to wait for it."""

import hashlib
import threading


def spins():
    total = 0
    while True:
        for i in range(10000):
            total = (total + i) & 0xFFFFFF


def hashes():
    data = bytes(64 << 20)
    while True:
        hashlib.sha256(data)


for name in ("first", "second"):
    threading.Thread(target=spins, name=name, daemon=True).start()
print("ready", flush=True)
hashes()
