# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The daemon under test: starts build/profd on a free port, sends it HTTP requests, stops it.

Also gives the facts about the daemon that come from the kernel, by /proc and bpftool: its memory, descriptors and BPF objects.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PROFD = os.path.join(BUILD, "profd")
CPUS = os.cpu_count()
HZ = 99

os.environ["PATH"] += ":/usr/sbin:/sbin"  # bpftool, for a root shell started by `su`


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Answer:
    """One HTTP answer, read completely."""

    def __init__(self, status, headers, body, seconds):
        self.status, self.headers, self.body, self.seconds = status, headers, body, seconds

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


FIRST = ("nice", "-n", "-10")


class Daemon:
    """A running `profd serve`; use it in a with statement."""

    READY = "/readyz"  # answers 200 as soon as the daemon can be used

    def __init__(self, *options, listen=None, hz=HZ, through=(), first=False):
        """Starts the daemon, with the command `through` where given, which must exec the daemon in the end. `first` gives it
        CPU priority over other programs."""
        own = listen and not listen.startswith("unix:")
        self.port = int(listen.rpartition(":")[2]) if own else free_port()
        self.listen = listen or f"127.0.0.1:{self.port}"
        self.url = f"http://127.0.0.1:{self.port}"
        self.started = time.monotonic()
        # The host's own settings must not affect the tests.
        argv = [*(FIRST if first else ()), *through, PROFD, "serve", "--config", "/dev/null", "--listen", self.listen, "--freq", str(hz), *options]
        # The log is a file, not a pipe: nothing reads it while the daemon runs.
        self.log_path = os.path.join(BUILD, f"profd-test-{self.port}.log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=first)
        self.pid = self.process.pid
        if first:
            # Nice values compare within a session, not between sessions: sched(7), "The autogroup feature".
            with contextlib.suppress(OSError), open(f"/proc/{self.pid}/autogroup", "w", encoding="ascii") as group:
                group.write(FIRST[-1])
        try:
            self.wait_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def connect(self, timeout=60):
        if self.listen.startswith("unix:"):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(timeout)
            s.connect(self.listen[len("unix:"):])
            return s
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def wait_ready(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"profd exited {self.process.returncode}: {self.log()}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.get(self.READY, timeout=5).status == 200 and not self.is_loading():
                    return
            time.sleep(0.02)
        raise AssertionError(f"profd not ready after {seconds} s: {self.log()}")

    def is_loading(self):
        """profd begins to record memory growth a moment later than CPU time. A client that may not read /status gets False."""
        status = self.get("/status", timeout=5)
        return status.status == 200 and any("being loaded" in source["why"] for source in status.json()["sources"])

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def request(self, method, target, timeout=60, headers=None):
        start = time.monotonic()
        connection = http.client.HTTPConnection("localhost")
        connection.sock = self.connect(timeout)
        try:
            connection.request(method, target, headers=headers or {})
            response = connection.getresponse()
            body = response.read()
            return Answer(response.status, response.headers, body, time.monotonic() - start)
        finally:
            connection.close()

    def get(self, target, timeout=60):
        return self.request("GET", target, timeout)

    def json(self, target):
        return self.get(target).json()

    def named_profile(self, pid):
        """Returns a profile of a second of the process, or longer if it gets little CPU time, with its names. On busy CPUs an
        answer may come before the names; it says so, and the request is repeated."""
        from workload import spend  # which imports this module

        profile, end = self.profile(f"{spend([pid], 0.05, 1)}&pid={pid}"), time.monotonic() + 30
        while any("not ready yet" in comment for comment in profile.comments) and time.monotonic() < end:
            time.sleep(0.2)
            profile = self.profile(f"last=2s&pid={pid}")
        return profile

    def profile(self, query, timeout=60):
        """Returns the decoded profile for a query; a failed request is a failed test."""
        from profile_pb import Profile  # imported late, when its importer knows ROOT

        answer = self.get("/profile?" + query, timeout)
        if answer.status != 200:
            raise AssertionError(f"/profile?{query}: {answer.status} {answer.text}")
        return Profile(answer.body)

    def metrics(self):
        """Returns name{labels} -> number."""
        values = {}
        for line in self.get("/metrics").text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def alive(self):
        return self.process.poll() is None and self.get("/healthz").status == 200

    def rss_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1))

    def fd_count(self, kind=""):
        """Returns the number of open descriptors, of one kind ("socket") where given. The daemon keeps executable files open by
        design. Sockets without a name do not count: they lead to reader processes, which come and go."""
        count = 0
        with open(f"/proc/{self.pid}/net/unix", encoding="ascii") as sockets:
            nameless = {f"socket:[{words[6]}]" for words in map(str.split, sockets) if len(words) == 7}
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                path = os.readlink(f"/proc/{self.pid}/fd/{fd}")
                count += path.startswith(kind) and path not in nameless
        return count

    def bpf_ids(self):
        """Returns {"prog": ids, "map": ids, "link": ids} of the BPF objects that the daemon holds open."""
        ids = {"prog": set(), "map": set(), "link": set()}
        for fd in os.listdir(f"/proc/{self.pid}/fdinfo"):
            with contextlib.suppress(FileNotFoundError):
                with open(f"/proc/{self.pid}/fdinfo/{fd}", encoding="ascii") as info:
                    text = info.read()
                    # The daemon attaches and detaches the programs on sched_switch as CPUs become idle and busy.
                    if re.search(r"^tp_name:\s*sched_switch$", text, re.M):
                        continue
                    for kind, number in re.findall(r"^(prog|map|link)_id:\s*(\d+)", text, re.M):
                        ids[kind].add(int(number))
        return ids

    def bpf_names(self, kind):
        """Returns id -> name of the daemon's programs ("prog") or maps ("map")."""
        listed = json.loads(subprocess.run(["bpftool", "-j", kind, "list"], check=True, capture_output=True).stdout)
        own = self.bpf_ids()[kind]
        return {entry["id"]: entry.get("name") for entry in listed if entry["id"] in own}

    def lasting_maps(self):
        """Returns name -> ids of the daemon's maps, without chunks of unwind tables, which come and go with running programs."""
        names = {}
        for number, name in self.bpf_names("map").items():
            if name != "unwind_chunk":
                names.setdefault(name, set()).add(number)
        return names

    def stop(self, with_signal=signal.SIGTERM, seconds=30):
        """Stops the daemon; returns (exit status, seconds it took). On busy CPUs the kernel takes a tenth of a second for each
        probe that it detaches."""
        start = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"profd did not end within {seconds} s: {self.log()}") from None
        took = time.monotonic() - start
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.log_path)
        return code, took

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


def bpf_left(ids, seconds=2):
    """Returns the BPF objects of a dead daemon that the kernel still has; the kernel frees them in the background."""
    end = time.monotonic() + seconds
    while True:
        left = {}
        for kind, mine in ids.items():
            listed = json.loads(
                subprocess.run(["bpftool", "-j", kind, "list"], check=True, capture_output=True).stdout or "[]"
            )
            found = mine & {entry["id"] for entry in listed}
            if found:
                left[kind] = found
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.05)


_shared = None


def shared():
    """Returns the daemon shared by all tests that only read from one, with all kinds of profile on. run.py stops it."""
    global _shared
    if _shared is None:
        _shared = Daemon("--growth", "yes")
    return _shared


def stop_shared():
    global _shared
    if _shared is not None:
        _shared.stop()
        _shared = None
