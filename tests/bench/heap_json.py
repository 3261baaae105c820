# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A Python program that turns objects into JSON text and back, with the protocol of heap_work.h."""

import json
import sys
import time

RECORDS = [{"id": n, "name": f"name {n}", "tags": [str(n + i) * 3 for i in range(8)], "note": "x" * (n % 900)}
           for n in range(300)]


def main():
    seconds, rounds = float(sys.argv[1]), 0
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.process_time()
    while True:
        text = json.dumps(RECORDS)
        if len(json.loads(text)) != len(RECORDS):
            sys.exit("lost some")
        rounds += 1
        now = time.process_time()
        if now - start >= seconds:
            break
    print(f"{rounds / (now - start):.4f}", flush=True)
    sys.stdin.read()


main()
