# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A Debian with make, git and certificates, and a clone of what is committed here; commands run in it by systemd-nspawn.

Nothing of the host is in it but its kernel, its network and the certificates that its administrator trusts in addition: a
network whose TLS somebody reads is one with or without a machine in it. It has the host's process IDs, because those are what
BPF programs see, and the host's control groups, because tests make some.
"""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import tempfile

import tree
from daemon import BUILD, ROOT
from heap_runs import until

PACKAGES = "make,git,ca-certificates"
WORK = os.path.join(BUILD, "bare")
BASE = os.path.join(WORK, "root")
CERTIFICATES = "/usr/local/share/ca-certificates"
# Anybody may enter it, as a home under /root would not let tests that run programs as somebody else.
CLONE = "/srv/profd"

ENVIRONMENT = {**tree.ENVIRONMENT, "SYSTEMD_NSPAWN_SHARE_NS_PID": "1", "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "1"}
# Beside what systemd-nspawn leaves: those of profd, and two for tests that have a loopback and a clock of their own.
CAPABILITIES = "CAP_BPF,CAP_PERFMON,CAP_SYSLOG,CAP_CHECKPOINT_RESTORE,CAP_NET_ADMIN,CAP_SYS_TIME"
OPTIONS = ["--quiet", "--register=no", "--keep-unit", "--console=pipe", "--resolv-conf=copy-host", f"--capability={CAPABILITIES}",
           "--system-call-filter=bpf perf_event_open", "--bind=/sys/fs/cgroup", f"--chdir={CLONE}",
           *(["--bind=/dev/fuse"] if os.path.exists("/dev/fuse") else [])]
# Which systemd-nspawn adds and no login has.
LOGIN = ["setpriv", "--inh-caps=-all", "env", "HOME=/root", "LC_ALL=C.UTF-8"]


class Machine:
    """A copy of the tree with a clone in it; use it in a with statement. What it leaves is gone afterwards."""

    def __init__(self):
        os.makedirs(WORK, exist_ok=True)
        tree.make(BASE, PACKAGES)
        self.folder = tempfile.mkdtemp(prefix="machine-", dir=WORK)
        self.root = os.path.join(self.folder, "root")
        try:
            tree.copy(BASE, self.root)
            for path in glob.glob(f"{CERTIFICATES}/*.crt"):
                shutil.copy(path, self.root + CERTIFICATES)
            tree.run("chroot", self.root, "update-ca-certificates", env=tree.ENVIRONMENT)
            # Not what is hard-linked to the host's objects, and not what is about to be committed.
            tree.run("git", "clone", "--quiet", "--no-hardlinks", ROOT, self.root + CLONE)
        except BaseException:
            self.stop()
            raise

    def start(self, *words):
        """The command, running as root in the clone; its output is ours."""
        return subprocess.Popen(["systemd-nspawn", *OPTIONS, f"--directory={self.root}", *LOGIN, *words], stdin=subprocess.DEVNULL,
                                env=ENVIRONMENT, start_new_session=True)

    def processes(self):
        """Those whose root is the machine's. They have no process IDs of their own that would end with the first one."""
        own = os.stat(self.root)
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.path.samestat(os.stat(f"/proc/{name}/root"), own):
                    yield int(name)

    def kill(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not any(self.processes())

    def stop(self):
        if os.path.exists(self.root):
            until(self.kill)
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()
