# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how long /healthz takes during an event, beside a reference server that does nothing else; the reference shows
the delay that the load of this host causes. A separate process asks both, with a new connection every INTERVAL.

  health.py PORT [PID]     asks until its input ends, then prints one line of JSON

When an answer takes long, the report also has what the threads of process PID did meanwhile, how many descriptors the process
had, and what waited in its sockets.
"""

import collections
import contextlib
import glob
import json
import os
import socket
import subprocess
import sys
import threading
import time

INTERVAL = 0.02
SLOWEST = 0.1  # seconds that /healthz may take longer than the reference server
ONCE = 0.5  # seconds for one exception: a page of the program may have to be read from disk, while an attack's delays recur
LONG = 0.1
LOOK = 0.02
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nok\n"


class Asked:
    """One server that is asked on a thread: times in seconds."""

    def __init__(self, port):
        self.port, self.times, self.failed, self.since = port, [], 0, None
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            self.since = time.monotonic()
            if not self.ask():
                self.failed += 1
            self.times.append(time.monotonic() - self.since)
            self.since = None
            time.sleep(INTERVAL)

    def ask(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 600) as s:
                s.sendall(REQUEST)
                answer = b""
                while more := s.recv(4096):
                    answer += more
                return answer.startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def told(self):
        """Returns the statistics; the request in progress counts as well."""
        since = self.since
        times = sorted(self.times + ([time.monotonic() - since] if since else []))
        return {"asked": len(times), "failed": self.failed, "median": times[len(times) // 2] if times else 0,
                "worst": times[-1] if times else 0, "second": times[-2] if times[1:] else 0}


def thread_does(folder, pid):
    """Returns a thread's name ("loop" for the first thread), its state and its kernel stack, innermost call first: proc(5)."""
    texts = []
    for name in ("stat", "stack"):
        with open(os.path.join(folder, name), encoding="ascii", errors="replace") as file:
            texts.append(file.read())
    name, state = texts[0].split("(", 1)[1].rsplit(") ", 1)
    calls = [line.split("] ")[-1].split("+")[0] for line in texts[1].splitlines()[:8]]
    name = "loop" if os.path.basename(folder) == pid else name
    return f"{name} {state[0]} {' < '.join(calls)}"


def look_at_descriptors(port, pid, seen):
    """Counts the process's descriptors, and the states of its port's sockets: proc_pid_net(5), /proc/net/tcp."""
    seen[f"{len(os.listdir(f'/proc/{pid}/fd')) // 64 * 64} descriptors"] += 1
    with open("/proc/net/tcp", encoding="ascii") as lines:
        for words in map(str.split, lines):
            if f":{port:04X}" in words[1] and words[3] != "06":
                seen[f"socket state {words[3]} queues {words[4]} inode {'0' if words[9] == '0' else 'own'}"] += 1


def look_at(asked, pid, seen):
    """Counts what the threads of a process do while an answer takes long, as texts."""
    while True:
        time.sleep(LOOK)
        since = asked.since
        if not since or time.monotonic() < since + LONG:
            continue
        with contextlib.suppress(OSError):
            look_at_descriptors(asked.port, pid, seen)
        for folder in glob.glob(f"/proc/{pid}/task/*"):
            try:
                seen[thread_does(folder, pid)] += 1
            except OSError:
                pass


def answer_for_ever(listening):
    while True:
        connection, _ = listening.accept()
        with connection:
            try:
                if connection.recv(4096):
                    connection.sendall(ANSWER)
            except OSError:
                pass


def main():
    listening = socket.create_server(("127.0.0.1", 0))
    reference = os.fork()
    if not reference:
        answer_for_ever(listening)
    try:
        # The asking process must not be the slow part.
        os.nice(-10)
        daemon, other = Asked(int(sys.argv[1])), Asked(listening.getsockname()[1])
        seen = collections.Counter()
        for pid in sys.argv[2:]:
            threading.Thread(target=look_at, args=(daemon, pid, seen), daemon=True).start()
        sys.stdin.read()
        print(json.dumps({"daemon": daemon.told(), "reference": other.told(), "long": seen.most_common(20)}), flush=True)
    finally:
        os.kill(reference, 9)
    os._exit(0)  # a thread may still wait for an answer


class Health:
    """Asks a daemon during a with block; `told` is the report afterwards: {"daemon": ..., "reference": ..., "long": ...}."""

    def __init__(self, daemon):
        self.arguments, self.told = [str(daemon.port), str(daemon.pid)], None

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), *self.arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *unused):
        output, _ = self.process.communicate()
        self.told = json.loads(output)

    @property
    def worst(self):
        """Seconds by which the daemon's slowest answer exceeds the slowest one of the reference server."""
        return max(0, self.told["daemon"]["worst"] - self.told["reference"]["worst"])

    @property
    def second(self):
        """The same for the daemon's second slowest answer."""
        return max(0, self.told["daemon"]["second"] - self.told["reference"]["worst"])


if __name__ == "__main__":
    main()
