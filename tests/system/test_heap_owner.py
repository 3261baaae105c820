# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Without a group setting, root may have probes put into any process, and other users only into their own processes."""

import contextlib
import grp
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import daemon
from daemon import Daemon
from heap_runs import HeapRequest, HeapWorkload, heap_of, is_sampling, until
from test_clients import NOBODY, as_user, curl
from workload import Workload, workload_path

LANE = "clients"
OTHER = 54321  # a user without any other process
TRUSTED = "--user-probes=yes"

# Makes 300,000 allocations and keeps them, slowly enough for the ring buffer.
HOARD = """
import ctypes, sys, time
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
print('ready', flush=True)
sys.stdin.readline()
for i in range(300000):
    malloc(64)
    if i % 500 == 0: time.sleep(0.01)
print('done', flush=True)
sys.stdin.read()
"""


class Owned(Workload):
    """A copy of the allocating workload that runs as a given user."""

    def __init__(self, folder, uid, mode=0o755):
        path = os.path.join(folder, f"sites-{uid}-{mode:o}")
        shutil.copy(workload_path("heap_sites"), path)
        os.chmod(path, mode)
        truth = os.path.join(folder, f"truth-{uid}-{mode:o}")
        with open(truth, "wb"):
            os.chmod(truth, 0o666)
        super().__init__(path, "sites", truth, uid=uid)


class HeapOwner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The set-user-ID programs need a file system without nosuid.
        nosuid = os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOSUID
        folder = tempfile.TemporaryDirectory(dir=daemon.BUILD if nosuid else None)
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.folder = folder.name
        cls.roots = HeapWorkload("sites")
        cls.addClassCleanup(cls.roots.__exit__)
        cls.others = Owned(cls.folder, OTHER)
        cls.addClassCleanup(cls.others.__exit__)
        # Another user starts this program, which runs with root's rights.
        cls.raised = Owned(cls.folder, NOBODY.pw_uid, 0o4755)
        cls.addClassCleanup(cls.raised.__exit__)
        cls.own = Owned(cls.folder, NOBODY.pw_uid)
        cls.addClassCleanup(cls.own.__exit__)

    def assert_own_only(self, profd, *options, base):
        stranger = as_user(NOBODY.pw_uid)
        for more in ("", "&force=1", "&leaks=1", "&rate=1&force=1"):
            for process in (self.roots, self.others, self.raised):
                status, body = curl(f"{base}/heap?pid={process.pid}&seconds=1{more}", *options, through=stranger)
                self.assertEqual(status, 403, body)
                self.assertIn("only for root and its owner", body)
        self.assertEqual(profd.json("/status")["heaps"]["heap_sessions"], 0)
        status, body = curl(f"{base}/heap?pid={self.own.pid}&seconds=1&force=1&format=text", *options, through=stranger)
        self.assertEqual(status, 200, body)
        self.assertEqual(curl(f"{base}/heap?pid=4194000&seconds=1", *options, through=stranger)[0], 404)
        for process in (self.roots, self.others, self.own):
            status, body = curl(f"{base}/heap?pid={process.pid}&seconds=1&force=1&format=text", *options)
            self.assertEqual(status, 200, body)
        head = subprocess.run([*stranger, "curl", "-sI", *options, f"{base}/heap?pid={self.roots.pid}"],
                              capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertTrue(head.startswith("HTTP/1.1 403"), head)

    def test_over_tcp(self):
        with Daemon(TRUSTED) as profd:
            self.assert_own_only(profd, base=profd.url)

    def test_over_a_unix_socket(self):
        path = os.path.join(self.folder, "socket")
        with Daemon(TRUSTED, listen=f"unix:{path}") as profd:
            os.chmod(path, 0o666)
            self.assert_own_only(profd, "--unix-socket", path, base="http://x")

    def test_a_process_that_becomes_anothers_meanwhile(self):
        """A request waits until the kernel half is loaded; by then the process runs a program with root's rights."""
        script = 'read line; exec "$@"'
        argv = ["sh", "-c", script, "sh", self.raised.process.args[0], *self.raised.process.args[1:]]
        turncoat = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, user=NOBODY.pw_uid,
                                    group=NOBODY.pw_gid, extra_groups=[], text=True)
        try:
            with Daemon(TRUSTED) as profd:
                url = f"{profd.url}/heap?pid={turncoat.pid}&seconds=3&force=1&format=text"
                asking = subprocess.Popen([*as_user(NOBODY.pw_uid), "curl", "-s", "-w", "%{http_code}", url],
                                          stdout=subprocess.PIPE, text=True)
                while not profd.metrics()["profd_http_under_way"]:
                    self.assertIsNone(asking.poll(), "it did not wait")
                turncoat.stdin.write("\n")
                turncoat.stdin.flush()
                said = asking.communicate(timeout=60)[0]
                # If the kernel half was loaded already, the exec ends the profile.
                self.assertRegex(said, f"no longer belongs to user {NOBODY.pw_uid} alone.*\\n403$|called exec.*\\n404$")
                self.assertTrue(until(lambda: profd.json("/status")["heaps"]["watched"] == 0))
        finally:
            turncoat.kill()
            turncoat.communicate()

    def test_who_has_many_watched_leaves_room(self):
        with contextlib.ExitStack() as running, Daemon(TRUSTED) as profd:

            def started(uid, mode):
                return running.enter_context(Owned(self.folder, uid, mode))

            def ask(uid, process):
                url = f"{profd.url}/heap?pid={process.pid}&seconds=600&force=1"
                asking = subprocess.Popen([*as_user(uid), "curl", "-s", url], stdout=subprocess.PIPE, text=True)
                running.callback(asking.communicate)
                running.callback(asking.kill)
                return asking

            def watched():
                return profd.json("/status")["heaps"]["watched"]

            his = [started(NOBODY.pw_uid, mode) for mode in (0o775, 0o765, 0o705)]
            for number, process in enumerate(his[:2], 1):
                ask(NOBODY.pw_uid, process)
                self.assertTrue(until(lambda number=number: watched() == number))
            status, body = curl(f"{profd.url}/heap?pid={his[2].pid}&seconds=1&force=1",
                                through=as_user(NOBODY.pw_uid))
            self.assertEqual(status, 409, body)
            self.assertIn(f"user {NOBODY.pw_uid} has used up its share", body)
            ask(OTHER, started(OTHER, 0o775))
            self.assertTrue(until(lambda: watched() == 3))
            # The last place is reserved for root.
            status, body = curl(f"{profd.url}/heap?pid={started(OTHER, 0o705).pid}&seconds=1&force=1",
                                through=as_user(OTHER))
            self.assertEqual(status, 409, body)
            status, body = curl(f"{profd.url}/heap?pid={his[2].pid}&seconds=1&force=1&format=text")
            self.assertEqual(status, 200, body)

    def test_addresses_of_one_leave_room(self):
        """A process that holds more addresses than the limit of all processes does not take the share of others."""
        hoard = [sys.executable, "-c", HOARD]
        with contextlib.ExitStack() as running, Daemon(TRUSTED) as profd:
            greedy = running.enter_context(subprocess.Popen(hoard, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            running.callback(greedy.kill)
            greedy.stdout.readline()
            watching = HeapRequest(profd, f"pid={greedy.pid}&seconds=25&force=1&rate=1")
            self.assertTrue(until(lambda: is_sampling(profd)))
            print("go", file=greedy.stdin, flush=True)
            self.assertEqual(greedy.stdout.readline(), "done\n")
            mine = heap_of(profd, f"pid={self.roots.pid}&seconds=3&force=1&rate=1")
            self.assertTrue(mine.comment("sampled=").endswith("lost=0"), mine.comments)
            self.assertGreater(mine.sampled, 100)
            self.assertFalse(watching.heap().comment("sampled=").endswith("lost=0"))
            self.assertGreater(profd.json("/status")["heaps"]["heap_addresses_full"], 0)

    def test_with_a_group_its_members_may(self):
        with Daemon("--group", grp.getgrgid(NOBODY.pw_gid).gr_name) as profd:
            url = f"{profd.url}/heap?pid={self.others.pid}&seconds=1&force=1&format=text"
            status, body = curl(url, through=as_user(NOBODY.pw_uid))
            self.assertEqual(status, 200, body)

    def test_what_a_process_tells_is_everybodys(self):
        library = os.path.join(daemon.BUILD, "libprofd-heap.so")
        with HeapWorkload("sites", preload=library) as workload, Daemon(TRUSTED) as profd:
            stranger, url = as_user(NOBODY.pw_uid), f"{profd.url}/heap?pid={workload.pid}"
            self.assertTrue(until(lambda: profd.json("/status")["heaps"]["standing"]))
            status, body = curl(url + "&format=text", through=stranger)
            self.assertEqual(status, 200, body)
            self.assertEqual(curl(url + "&seconds=1", through=stranger)[0], 403)

