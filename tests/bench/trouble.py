# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The troubles that chaos.py causes a daemon: each takes some seconds and ends by itself.

A trouble is a function of (daemon, rng, place, seconds). Its files are in `place`, a folder; `place.corrupt` are programs
that are damaged in parts that the kernel does not read.
"""

import contextlib
import http.client
import http.server
import mmap
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import elf_file
from daemon import BUILD
from hostile_runs import ATTACKER, NOBODY, Attack, folder_of
from workload import workload_path

CORRUPT = 16        # damaged programs; every round uses the same ones
DISK_BYTES = 1 << 20
COPIES = 41         # of libprofd-heap.so, more than the number of files that profd attaches to
FOLDER, PORT = object(), object()
TARGETS = (
    "/profile?seconds=1", "/profile?last=10s", "/profile?last=10s&type=mmap", "/profile?last=10s&type=rss",
    "/profile?last=30s&format=folded", "/profile?seconds=1&format=text&sort=cum", "/profile?last=5s&idle=1&kernel=0",
    "/profile?last=10s&type=wall&waiting_for_work=0", "/profile?last=10s&type=lock", "/profile?last=10s&type=waker",
    "/profile?last=10s&type=block&format=text", "/report?last=10s", "/metrics", "/status", "/processes", "/timeline?last=30s", "/oom",
)


def run(name, seconds, *arguments):
    """Runs a workload to its end."""
    process = subprocess.Popen([workload_path(name), str(seconds), *map(str, arguments)], stdout=subprocess.DEVNULL)
    try:
        process.wait(seconds + 60)
    finally:
        process.kill()
        process.wait()


def fork_storm(daemon, rng, place, seconds):
    """Starts 2,000 short processes a second, or as many as this host can."""
    del daemon, rng, place
    run("forks", seconds, 2000)


def exec_storm(daemon, rng, place, seconds):
    """Runs as many execs as one CPU can."""
    del daemon, rng, place
    run("execs", seconds)


def distinct_stacks(daemon, rng, place, seconds):
    """Makes more distinct stacks than the kernel's maps have room for."""
    del daemon, place
    run("distinct", seconds, rng.choice((4, 8)))


def corrupt_programs(daemon, rng, place, seconds):
    """Runs damaged programs, and also maps them in a process that does not run them."""
    del daemon
    end, running = time.monotonic() + seconds, []
    with contextlib.ExitStack() as stack:
        for path in place.corrupt:
            file = stack.enter_context(open(path, "rb"))
            stack.enter_context(contextlib.closing(mmap.mmap(
                file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)))
        while time.monotonic() < end:
            path = rng.choice(place.corrupt)
            with contextlib.suppress(OSError):  # the kernel may refuse the program
                running.append(subprocess.Popen([path, "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            time.sleep(0.2)
        for process in running:
            process.kill()
            process.wait()


def bad_clients(daemon, rng, place, seconds):
    """Clients that disconnect before the answer, send half a request, never read, or send random bytes."""
    del place
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                s = daemon.connect(5)
                target = rng.choice(TARGETS)
                kind = rng.randrange(4)
                if kind == 0:
                    s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                elif kind == 1:
                    s.sendall(f"GET {target} HTTP/1.1\r\nHo".encode())
                    stack.callback(s.close)
                    continue
                elif kind == 2:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 20)
                    stack.callback(s.close)
                    continue
                else:
                    s.sendall(rng.randbytes(rng.randrange(1, 4096)))
                s.close()
            time.sleep(0.02)


def stopped_daemon(daemon, rng, place, seconds):
    """Stops the daemon's process for a while and continues it."""
    del place
    with contextlib.suppress(ProcessLookupError):
        os.kill(daemon.pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0.5, min(4, seconds)))
        os.kill(daemon.pid, signal.SIGCONT)


def clock_steps(daemon, rng, place, seconds):
    """Sets the wall clock that the daemon sees back and forth."""
    del daemon
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            place.step_clock(rng.choice((-3600, -5, 1, 5, 3600)))
            time.sleep(0.5)
    finally:
        place.step_clock(0)


def readers(daemon, rng, place, seconds):
    """Well-behaved readers of every format; a failed check ends the run."""
    from accounts import check_answer  # imported late, when the path is set

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        target = rng.choice(TARGETS)
        check_answer(target, daemon.get(target, timeout=place.patience))


TROUBLES = (fork_storm, exec_storm, distinct_stacks, corrupt_programs, bad_clients, stopped_daemon,
            clock_steps, readers)


def attack(name, *arguments, uid=ATTACKER, ask=None):
    """Returns a trouble that runs a program of tests/hostile as another user, with FOLDER and PORT in its arguments filled in."""

    def trouble(daemon, rng, place, seconds):
        del rng
        with folder_of(uid or ATTACKER) as folder:
            filled = [{FOLDER: folder, PORT: daemon.port}.get(argument, argument) for argument in arguments]
            if name == "maps":
                filled = place.copies
            with Attack(name, *filled, uid=uid):
                end = time.monotonic() + seconds
                if ask:
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        daemon.get(ask, timeout=place.patience)
                time.sleep(max(0, end - time.monotonic()))

    trouble.__name__ = name
    return trouble


# Attacks by other users of the host; each round runs one of them beside the troubles.
HOSTILE = (
    attack("leases", FOLDER, 2),
    attack("hung_fs", FOLDER, ATTACKER, "getattr", "open", "read", uid=0),
    attack("fifos.py", FOLDER, 1, ask="/profile?seconds=1"),
    attack("stop_readers", uid=NOBODY),
    attack("mapping_churn", 60000),
    attack("many_mappings", FOLDER, 1000, 30),
    attack("many_files", FOLDER, 2000),
    attack("maps"),
    attack("tellers", 100),
    attack("told_code", FOLDER),
    attack("deep_stacks", 250, 2),
    attack("command_lines", 30, ask="/processes?cmdline=1"),
    attack("forged_python.py", 400, 400),
    attack("slow_headers.py", PORT, 100, 2),
)


class Flood(http.server.BaseHTTPRequestHandler):
    """A debuginfod server that sends more bytes than the disk has room for."""

    def do_GET(self):
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Length", str(4 * DISK_BYTES))
            self.end_headers()
            self.wfile.write(os.urandom(4 * DISK_BYTES))

    def log_message(self, format, *arguments):
        pass


class Place:
    """The folder, the damaged programs, the clock, a disk that is full at once, and the server that fills it."""

    def __init__(self, rng, patience):
        self.patience = patience  # seconds that an answer may take
        self.stack = contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)
        self.corrupt = [self.damage(rng, number) for number in range(CORRUPT)]
        self.copies = [self.copy_library(number) for number in range(COPIES)]
        self.clock = f"{self.folder}/clock"
        self.step_clock(0)
        self.disk = f"{self.folder}/disk"
        os.mkdir(self.disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "chaos", self.disk], check=True)
        self.stack.callback(subprocess.run, ["umount", "-l", self.disk], check=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flood)
        self.stack.callback(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.stack.callback(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def step_clock(self, seconds):
        """Sets the clock of a daemon that has clock_steps.so preloaded."""
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "wb") as file:
            file.write(struct.pack("<d", seconds))

    def copy_library(self, number):
        """Returns a copy of the library with its own build ID, so that it counts as another file."""
        path = shutil.copy(os.path.join(BUILD, "libprofd-heap.so"), f"{self.folder}/copy{number}.so")
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            elf_file.renew_build_id(data)
            file.seek(0)
            file.write(data)
        return path

    def damage(self, rng, number):
        """Returns a damaged copy that most likely still starts: what the dynamic loader reads is left alone."""
        name = rng.choice(("spin60_30_10", "mangled", "stacks_throw", "stacks_threads"))
        path = shutil.copy(workload_path(name), f"{self.folder}/corrupt{number}")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        elf_file.renew_build_id(data)
        for section in elf_file.sections(bytes(data)).values():
            if section.name.startswith((".eh_frame", ".debug_", ".symtab", ".strtab", ".gnu_debug", ".gcc_except")):
                end = min(section.offset + section.size, len(data))
                for _ in range(rng.randrange(1, 60)):
                    if end > section.offset:
                        data[rng.randrange(section.offset, end)] = rng.randrange(256)
        if rng.random() < 0.3:  # the section headers as well
            table = int.from_bytes(data[40:48], "little")
            for _ in range(rng.randrange(1, 20)):
                data[rng.randrange(table, len(data))] = rng.randrange(256)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stack.close()
