# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the attacks of tests/hostile as a separate user, and measures a daemon during and after them."""

import contextlib
import glob
import http.client
import os
import re
import shutil
import signal
import tempfile
import time

import elf_file
from daemon import BUILD, ROOT, Daemon
from health import Health
from workload import Workload, workload_path

ATTACKER = 54321  # a user ID that no account has
NOBODY = 65534
NO_ANSWER = (OSError, http.client.HTTPException, ValueError)
NAME = "victim_spins_00"  # the function that uses all CPU time of the workload victim


def attack_path(name):
    return os.path.join(ROOT, "tests", "hostile", name) if name.endswith(".py") else os.path.join(BUILD, "hostile", name)


class Attack(Workload):
    """A running attack; the end of the with block kills it and all processes that it has started."""

    def __init__(self, name, *arguments, uid=ATTACKER, **options):
        super().__init__(attack_path(name), *arguments, uid=uid, start_new_session=True, **options)

    def __exit__(self, *unused):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*unused)


@contextlib.contextmanager
def folder_of(uid=ATTACKER):
    """A folder that belongs to a user and is readable by others."""
    path = tempfile.mkdtemp(prefix="profd-hostile-")
    os.chmod(path, 0o755)
    os.chown(path, uid, uid)
    try:
        yield path
    finally:
        for file in glob.glob("/tmp/perf-*.map"):  # of told_code
            if uid and os.lstat(file).st_uid == uid:
                os.unlink(file)
        # rmtree() goes down step by step: one attack makes paths longer than a path may be.
        shutil.rmtree(path)


class Innocent(Workload):
    """A program that profd has not seen before, which uses all its CPU time in the function `name`."""

    number = 0

    def __init__(self, folder, **options):
        Innocent.number += 1
        self.name = f"victim_spins_{Innocent.number % 100:02}"
        path = elf_file.renamed(workload_path("victim"), os.path.join(folder, f"innocent{Innocent.number}"), NAME, self.name)
        super().__init__(path, **options)

    def named(self, profile):
        """Returns the share of the program's samples in the function, 0 to 1, or None without samples."""
        own = [sample for sample in profile.samples if sample.labels["pid"] == self.pid]
        total = sum(sample.count for sample in own)
        return sum(sample.count for sample in own if self.name in sample.names) / total if total else None


def peak_begin(pid):
    """Resets the process's peak memory, so that peak_mib() counts from now on."""
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def peak_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) / 1024


class Starting(Daemon):
    """A daemon that may never be ready: the constructor does not wait for it."""

    def wait_ready(self, seconds=0):
        """Returns the seconds until the daemon was ready, or None when it was not ready in time or has ended."""
        while time.monotonic() < self.started + seconds and self.process.poll() is None:
            with contextlib.suppress(*NO_ANSWER):
                if self.get(self.READY, timeout=5).status == 200:
                    return time.monotonic() - self.started
            time.sleep(0.05)
        return None


class Siege:
    """What an attack did to a daemon: figures to print and to compare with bounds."""

    def __init__(self, server):
        self.server = server
        self.before_mib, self.before_fds = server.rss_kib() / 1024, self.fds()
        self.peak_mib = self.named = self.late = self.health = self.after_fds = self.recovered = None

    def fds(self):
        """Returns the numbers of (sockets and pipes, executable files); the latter include files of the host's other programs."""
        return self.server.fd_count("socket:") + self.server.fd_count("pipe:"), self.server.fd_count("/")

    @contextlib.contextmanager
    def watched(self):
        """Measures during the block."""
        peak_begin(self.server.pid)
        with Health(self.server) as self.health:
            yield self
        self.peak_mib = peak_mib(self.server.pid)

    def is_named(self, seconds, patience):
        """Returns the named share of a program that starts now, and by how many seconds the profile was late."""
        with folder_of(0) as folder, Innocent(folder) as innocent:
            start = time.monotonic()
            try:
                profile = self.server.profile(f"seconds={seconds}&pid={innocent.pid}", timeout=patience)
                named = innocent.named(profile)
            except (*NO_ANSWER, AssertionError):
                named = None
            return named, time.monotonic() - start - seconds

    def name_innocent(self):
        self.named, self.late = self.is_named(2, 60)

    def recover(self, seconds=30, more_fds=(32, 1100)):
        """Returns the seconds from the end of the attack until the daemon is as before, or None. It keeps up to 1,000 files of a
        user open, and opens some of the host's other programs meanwhile."""
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            with contextlib.suppress(*NO_ANSWER):
                asked = time.monotonic()
                self.server.get("/healthz", timeout=seconds)
                quick = time.monotonic() - asked < 1
                self.after_fds = self.fds()
                few = all(map(lambda after, before, more: after <= before + more, self.after_fds, self.before_fds, more_fds))
                if quick and few and (self.is_named(1, seconds)[0] or 0) > 0.9:
                    return time.monotonic() - start
            time.sleep(0.5)
        return None

    def __str__(self):
        def in_ms(what):
            return f"{1000 * what['worst']:.0f} ms at worst, {1000 * what['median']:.0f} median, {what['failed']} of {what['asked']} failed"

        told = self.health.told
        named = "not" if self.named is None else f"{100 * self.named:.0f} %"
        return (f"healthz {in_ms(told['daemon'])} (a server that does nothing {in_ms(told['reference'])}); memory "
                f"{self.before_mib:.0f} MiB, at most {self.peak_mib:.0f}; descriptors {self.before_fds}, afterwards {self.after_fds}; "
                f"an innocent program named {named}, {self.late:.1f} s late; "
                f"recovered {'not in time' if self.recovered is None else f'after {self.recovered:.1f} s'}"
                + "".join(f"\n  {count} times while an answer took long: {text}" for text, count in told["long"]))
