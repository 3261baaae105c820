# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two threads of pure Python compute, and the main thread waits for their end: one has the GIL at each moment."""

import threading


def spins():
    total = 0
    while True:
        total = (total * 33 + 1) & 0xffffffff


threads = [threading.Thread(target=spins, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
