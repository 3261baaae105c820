# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A Debian machine for the package: a tree made by debootstrap, booted by systemd-nspawn under its own systemd.

The tree is made once and kept in the build folder. Each machine runs on a copy of it, without a network but its
loopback, and leaves nothing behind. A container gets profd's capabilities and system calls only by options, and
sees /proc/kallsyms only if it may write to /proc.

A machine has its own process IDs, while BPF programs see those of the host. A profile made in a machine therefore has
samples and kernel names, but the names of processes only by chance.
"""

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import tree
from daemon import BUILD
from heap_runs import until
from tree import ENVIRONMENT, run

PACKAGES = "systemd,systemd-sysv,dbus,curl,procps"
WORK = os.path.join(BUILD, "package")
BASE = os.path.join(WORK, "root")
VERSION = os.environ["VERSION"]
BOOT_SECONDS = 120
REBOOT = 133  # the exit status of systemd-nspawn when the machine is to boot again



def package():
    """Returns the path of the .deb under test."""
    architecture = run("dpkg", "--print-architecture").stdout.decode().strip()
    return os.path.join(BUILD, f"profd_{VERSION}_{architecture}.deb")


def base_tree():
    """Returns the tree that machines are copied from, in which the package's dependencies are downloaded."""
    tree.make(BASE, PACKAGES)
    # The package lists of an old tree name versions that the mirror may no longer have.
    run("chroot", BASE, "apt-get", "update", env=ENVIRONMENT)
    inside = "/root/profd.deb"
    shutil.copy(package(), BASE + inside)
    run("chroot", BASE, "apt-get", "-y", "--download-only", "--no-install-recommends", "install", inside, env=ENVIRONMENT)
    return BASE


def control_groups():
    """Yields the mount points of systemd's hierarchies: cgroup2's, and on older hosts the one named systemd."""
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        for line in mounts:
            fields = line.split()
            kind, options = fields[fields.index("-") + 1], fields[-1]
            if kind == "cgroup2" or (kind == "cgroup" and "name=systemd" in options):
                yield fields[4]


running = []  # machines that an interrupted run leaves to stop_all()


def stop_all():
    for machine in list(running):
        machine.stop()


class Machine:
    """A machine that has booted, and runs until stop()."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="profd-machine-", dir=WORK)
        self.root = os.path.join(self.folder, "root")
        self.name = os.path.basename(self.folder).replace("_", "-")  # a host name has no "_"
        self.groups = [os.path.join(mount, self.name) for mount in control_groups()]
        self.process = None
        self.log_path = os.path.join(self.folder, "console.log")
        running.append(self)
        try:
            for group in self.groups:
                os.mkdir(group)
            tree.copy(base_tree(), self.root)
            self.boot()
        except BaseException:
            self.stop()
            raise

    def boot(self):
        argv = ["systemd-nspawn", "--quiet", "--boot", f"--directory={self.root}", f"--machine={self.name}", "--register=no",
                "--keep-unit", "--private-network", "--console=pipe", "--notify-ready=yes",
                "--capability=CAP_BPF,CAP_PERFMON,CAP_SYSLOG,CAP_CHECKPOINT_RESTORE",
                "--system-call-filter=bpf perf_event_open",
                # The sysctls that it would set are the host's.
                "systemd.mask=systemd-sysctl.service"]
        # Each boot has its own socket: systemd also says READY after each reload.
        address = os.path.join(self.folder, f"notify-{time.monotonic_ns()}")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(self.log_path, "ab") as log:
            notify.bind(address)
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self.enter_groups,
                env={**ENVIRONMENT, "NOTIFY_SOCKET": address, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "1"})
            self.leader = self.wait_booted(notify)

    def enter_groups(self):
        """Puts the process into the machine's groups. Machines must not share one: each systemd takes its group for the root."""
        for group in self.groups:
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as procs:
                procs.write("0")

    def wait_booted(self, notify):
        """Waits until systemd-nspawn says that the machine's systemd has started everything; returns the pid of that systemd."""
        end = time.monotonic() + BOOT_SECONDS
        said = ""
        while not re.search(r"^READY=1$", said, re.M):
            ready, _, _ = select.select([notify], [], [], max(end - time.monotonic(), 0))
            if not ready:
                raise AssertionError(f"not booted after {BOOT_SECONDS} s: {self.console()[-4000:]}")
            said += notify.recv(65536).decode() + "\n"
        return int(re.search(r"^X_NSPAWN_LEADER_PID=(\d+)$", said, re.M).group(1))

    def console(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def run(self, *words, user="root", **options):
        """Runs a command in the machine."""
        as_user = ("runuser", "-u", user, "--") if user != "root" else ()
        return run("nsenter", "-t", str(self.leader), "-a", "--", *as_user, *words, env=ENVIRONMENT, **options)

    def text(self, *words, **options):
        return self.run(*words, **options).stdout.decode().strip()

    def put(self, source, path):
        shutil.copy(source, self.root + path)

    def write(self, path, text, mode="w"):
        with open(self.root + path, mode, encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        with open(self.root + path, encoding="utf-8") as file:
            return file.read()

    def read_process(self, pid, name):
        return self.text("cat", f"/proc/{pid}/{name}")

    def install(self, deb, path="/root/install.deb"):
        self.put(deb, path)
        self.run("apt-get", "-y", "--no-install-recommends", "install", path)

    def unit(self, *names, unit="profd.service"):
        """Returns properties of a unit, in the order of the arguments."""
        shown = self.text("systemctl", "show", unit, *(f"--property={name}" for name in names))
        values = dict(line.split("=", 1) for line in shown.splitlines())
        return [values[name] for name in names]

    def reboot(self):
        self.run("systemctl", "reboot", check=False)
        code = self.process.wait(BOOT_SECONDS)
        if code != REBOOT:
            raise AssertionError(f"systemd-nspawn ended with {code}")
        self.boot()

    def members(self):
        """Yields the machine's processes."""
        for group in self.groups:
            for folder, _, _ in os.walk(group):
                # The group may be removed meanwhile.
                with contextlib.suppress(FileNotFoundError), \
                        open(os.path.join(folder, "cgroup.procs"), encoding="ascii") as procs:
                    yield from map(int, procs.read().split())

    def kill(self):
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not any(self.members())

    def stop(self):
        """Kills the machine: nothing in it needs an orderly shutdown."""
        until(self.kill)
        if self.process is not None:
            self.process.wait(BOOT_SECONDS)
        for group in self.groups:
            for folder, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(FileNotFoundError):
                    os.rmdir(folder)
        shutil.rmtree(self.folder)
        running.remove(self)
