# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A server and its only client, on threads of one process. The server calls work() and rest() for each request; the
client sends the next one a random time after the answer, up to argv[1] microseconds. For each line of input it prints
the CPU time used so far in seconds, by its own clocks: that of all threads, and the part within work().
"""

import random
import socket
import sys
import threading
import time

taken = 0.0


def work():
    total = 0
    for i in range(2400):
        total = (total * 31 + i) & 0xFFFF
    return total


def rest():
    total = 0
    for i in range(1600):
        total = (total * 31 + i) & 0xFFFF
    return total


def empty(rounds=1000):
    """The time between two readings of the clock, which is subtracted from that of work()."""
    total = 0.0
    for _ in range(rounds):
        begin = time.thread_time()
        total += time.thread_time() - begin
    return total / rounds


def serve(end):
    global taken
    between = empty()
    while end.recv(100):
        time.thread_time()  # discarded: after a sleep it takes some us due to cold caches
        begin = time.thread_time()
        work()
        taken += time.thread_time() - begin - between
        rest()
        end.sendall(b"an answer")


def ask(end, us):
    while True:
        end.sendall(b"a request")
        end.recv(100)
        time.sleep(random.random() * us / 1e6)


def main():
    ours, theirs = socket.socketpair()
    threading.Thread(target=serve, args=(theirs,), daemon=True).start()
    threading.Thread(target=ask, args=(ours, float(sys.argv[1])), daemon=True).start()
    print("ready", flush=True)
    while sys.stdin.readline():
        print(f"{time.process_time():.9f} {taken:.9f}", flush=True)


main()
