# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Sockets that a service manager binds and passes on (socket activation): sd_listen_fds(3)."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import unittest

from daemon import PROFD, Daemon, free_port

LANE = "clients"

# Executes the program after "--", with sockets of the given kinds from descriptor 3 on.
LAUNCHER = """
import os, socket, sys
count, at = sys.argv[1], sys.argv.index("--")
kept = []
for kind in sys.argv[2:at]:
    what, _, where = kind.partition("=")
    if what == "file":
        kept.append(os.open("/dev/null", os.O_RDWR))
        continue
    family = {"unix": socket.AF_UNIX, "seqpacket": socket.AF_UNIX, "tcp6": socket.AF_INET6}.get(what, socket.AF_INET)
    kinds = {"udp": socket.SOCK_DGRAM, "seqpacket": socket.SOCK_SEQPACKET}
    handed = socket.socket(family, kinds.get(what, socket.SOCK_STREAM))
    if family == socket.AF_UNIX:
        handed.bind(where.replace("@", chr(0)))
    else:
        handed.bind(({"tcp6": "::1", "any": "0.0.0.0"}.get(what, "127.0.0.1"), int(where)))
    if what in ("unix", "tcp", "tcp6", "any", "seqpacket"):
        handed.listen()
    kept.append(handed.detach())
# Out of the way of where they shall be, then there.
kept = [os.dup2(fd, 100 + i) for i, fd in enumerate(kept)]
for i, fd in enumerate(kept):
    os.dup2(fd, 3 + i)
    os.set_inheritable(3 + i, True)
    os.close(fd)
os.environ.update(LISTEN_FDS=count, LISTEN_PID=os.environ.get("FOR_PID", str(os.getpid())), LISTEN_FDNAMES="a:b")
os.execv(sys.argv[at + 1], sys.argv[at + 1:])
"""


def launcher(*kinds, count=None):
    return (sys.executable, "-c", LAUNCHER, str(len(kinds) if count is None else count), *kinds, "--")


class HandedSockets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "handed.sock")
        self.other = os.path.join(folder.name, "other.sock")

    def test_a_unix_socket_is_served_and_stays(self):
        with Daemon("--listen", f"unix:{self.other}", through=launcher(f"unix={self.path}"), listen=f"unix:{self.path}") as profd:
            self.assertTrue(profd.alive())
            # The settings name two sockets, and profd binds neither of them: the first would be in use.
            self.assertFalse(os.path.exists(self.other))
            self.assertIn(f"listening on unix:{self.path}, sampling", profd.log())
            self.assertIn(f"--unix-socket {self.path} ", profd.log())
        self.assertTrue(os.path.exists(self.path))

    def test_several_are_served(self):
        port, port6 = free_port(), free_port()
        through = launcher(f"unix={self.path}", f"tcp={port}", f"tcp6={port6}", f"unix=@{self.path}")
        with Daemon(through=through, listen=f"unix:{self.path}") as profd:
            self.assertIn(f"unix:{self.path}, 127.0.0.1:{port}, [::1]:{port6}, unix:@{self.path}, ", profd.log())
            for where in (("--unix-socket", self.path, "http://profd"), (f"http://127.0.0.1:{port}",),
                          (f"http://[::1]:{port6}",), ("--abstract-unix-socket", self.path, "http://profd")):
                argv = ["curl", "-sS", "--fail", *where[:-1], where[-1] + "/healthz"]
                self.assertEqual(subprocess.run(argv, check=True, capture_output=True, text=True).stdout, "ok\n")
            # The processes that profd starts inherit none of the sockets.
            flags = dict(self.flags_of_sockets(profd.pid))
            self.assertGreaterEqual(len(flags), 5)
            self.assertEqual([fd for fd, of in flags.items() if not of & os.O_CLOEXEC], [])

    def flags_of_sockets(self, pid):
        """Yields (descriptor, its flags) of a process's sockets, without those that are closed meanwhile."""
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
                    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as info:
                        yield fd, int(re.search(r"flags:\s+(\d+)", info.read()).group(1), 8)

    def test_those_for_another_process_are_not_ours(self):
        through = ("env", "FOR_PID=1", *launcher(f"unix={self.path}"))
        with Daemon(through=through) as profd:
            self.assertTrue(profd.alive())
            self.assertIn(f"listening on {profd.listen}, sampling", profd.log())

    def test_what_cannot_be_served_is_refused(self):
        for kinds, count, why in (
                (("udp=0",), None, "descriptor 3 .*stream socket"), (("idle=0",), None, "descriptor 3 .*stream socket"),
                (("file",), None, "descriptor 3 .*stream socket"), ((f"unix={self.path}",), 2, "descriptor 4 .*stream socket"),
                ((f"seqpacket={self.other}",), None, "descriptor 3 .*stream socket"),
                ((), 9, "on 9 sockets .*at most 8"), ((), "x", "on x sockets"), ((), -1, "on -1 sockets")):
            with self.subTest(kinds=kinds, count=count):
                argv = [*launcher(*kinds, count=count), PROFD, "serve", "--config", "/dev/null"]
                done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
                self.assertRegex(done.stderr, why)

    def test_one_that_other_hosts_reach_is_held_against_the_rules(self):
        argv = [*launcher("any=0"), PROFD, "serve", "--config", "/dev/null"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 78, done.stderr)
        self.assertRegex(done.stderr, r"listen on 0\.0\.0\.0:\d+: other hosts would have access without")


if __name__ == "__main__":
    unittest.main()
