# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A Debian tree with make, git and certificates, and a clone of this repository's commit; systemd-nspawn runs commands in it.

The tree takes nothing from the host but its kernel, its network and the certificates that the host's administrator trusts in
addition: a proxy that opens TLS connections on the host's network also opens those of the machine. The machine has the host's
process IDs, because BPF programs see those, and the host's control groups, because the tests create some.
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
# Any user may enter the folder. A home under /root would be closed to the tests that run programs as another user.
CLONE = "/srv/profd"

ENVIRONMENT = {**tree.ENVIRONMENT, "SYSTEMD_NSPAWN_SHARE_NS_PID": "1", "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "1"}
# In addition to what systemd-nspawn leaves: profd's capabilities, and two for tests that have their own loopback and clock.
CAPABILITIES = "CAP_BPF,CAP_PERFMON,CAP_SYSLOG,CAP_CHECKPOINT_RESTORE,CAP_NET_ADMIN,CAP_SYS_TIME"
OPTIONS = ["--quiet", "--register=no", "--keep-unit", "--console=pipe", "--resolv-conf=copy-host", f"--capability={CAPABILITIES}",
           "--system-call-filter=bpf perf_event_open", "--bind=/sys/fs/cgroup", f"--chdir={CLONE}",
           *(["--bind=/dev/fuse"] if os.path.exists("/dev/fuse") else [])]
# Drops the inheritable capabilities, which systemd-nspawn adds and no login has.
LOGIN = ["setpriv", "--inh-caps=-all", "env", "HOME=/root", "LC_ALL=C.UTF-8"]


class Machine:
    """A copy of the tree with a clone of the repository in it, for a with statement. The copy is removed at the end."""

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
            # A full copy: no hard links to the host's objects, and nothing that is not committed.
            tree.run("git", "clone", "--quiet", "--no-hardlinks", ROOT, self.root + CLONE)
        except BaseException:
            self.stop()
            raise

    def start(self, *words):
        """Starts the command as root in the clone; it writes to this process's standard output."""
        return subprocess.Popen(["systemd-nspawn", *OPTIONS, f"--directory={self.root}", *LOGIN, *words], stdin=subprocess.DEVNULL,
                                env=ENVIRONMENT, start_new_session=True)

    def processes(self):
        """Yields processes whose root is the machine's. They have no PID namespace that would end with its first process."""
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
