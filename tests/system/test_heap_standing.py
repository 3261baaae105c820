# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Standing heaps: programs that report their own allocations have a profile at once, and no other program is touched."""

import contextlib
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import daemon
from heap_runs import Heap, HeapWorkload, until, uprobe_paths
from proc_files import NOBODY
from warm_up import warm_up
from workload import Workload, workload_path

LANE = "heap"

# The children allocate as soon as they start, while the daemon listens to their parent.
FORKS = """
import os, select, sys
print('ready', flush=True)
while not select.select([sys.stdin], [], [], 0.01)[0]: bytes(100000)
failed = 0
for _ in range(20):
    child = os.fork()
    if not child:
        kept = [bytes(100000) for _ in range(250)]
        os._exit(0)
    failed += os.waitpid(child, 0)[1] != 0
print('failed', failed, flush=True)
"""

# The imports come first: only root may be able to read the interpreter and its modules.
DROP = "import mmap, os, signal, sys; os.setgroups([]); os.setgid({0}); os.setuid({0})\n".format(NOBODY)

# Another user's processes, each of which maps another file with probes, and does nothing.
MAPPERS = """
for path in sys.argv[1:]:
    if not os.fork():
        with open(path, 'rb') as file:
            mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        signal.pause()
print('ready', flush=True)
signal.pause()
"""

LIBRARY = os.path.join(daemon.BUILD, "libprofd-heap.so")
SITES = ("site_six", "site_three", "site_one")
SAMPLES = 12000  # some five seconds of samples; for the first ones profd does not know the process's mappings yet
LEAKED = 8 << 20


class HeapStanding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        # Samples that come before a stack can be walked stay in the standing heap. So the unwind tables of all files are
        # built before the programs under test start.
        with unittest.mock.patch.dict(os.environ, PROFD_HEAP_RATE="4KiB"):
            with HeapWorkload("sites", preload=LIBRARY) as before:
                until(lambda: cls.standing() >= 1)
                assert until(lambda: cls.whole(before), 90), "no whole stacks"
            warm_up(cls.daemon)
            cls.first, cls.second = HeapWorkload("sites", preload=LIBRARY), HeapWorkload("leak", preload=LIBRARY)
        cls.plain = HeapWorkload("sites")
        for workload in (cls.first, cls.second, cls.plain):
            cls.addClassCleanup(workload.__exit__)

    @classmethod
    def standing(cls):
        return cls.daemon.get("/status").json()["heaps"]["standing"]

    @classmethod
    def whole(cls, workload):
        """Whether the program has reported itself and one of its stacks is whole."""
        answer = cls.daemon.get(f"/heap?pid={workload.pid}")
        profile = Heap(answer.body) if answer.status == 200 else None
        return profile and "itself" in profile.comment("allocator=") and profile.sum("alloc_space", "main")

    def heap(self, workload, query=""):
        answer = self.daemon.get(f"/heap?pid={workload.pid}{query}")
        self.assertEqual(answer.status, 200, answer.body[:200])
        return Heap(answer.body)

    def sampled(self, workload, samples, query=""):
        """Returns the standing heap, once it has enough samples."""
        # Before the program's first report, /heap would attach probes to it. Other programs of this host may report as well.
        until(lambda: self.standing() >= 2)

        def told():
            profile = self.heap(workload)
            return "itself" in profile.comment("allocator=") and profile.sampled >= samples

        self.assertTrue(until(told, 90))
        return self.heap(workload, query)

    def test_shares(self):
        profile = self.sampled(self.first, SAMPLES)
        truth = self.first.truth(profile)
        for site, share in zip(SITES, (0.6, 0.3, 0.1)):
            off = 4 / math.sqrt(SAMPLES * share) + 0.02
            self.assertAlmostEqual(profile.sum("alloc_space", site) / profile.sum("alloc_space"), share, delta=off * share)
            allocated, held = truth[site]
            self.assertAlmostEqual(profile.sum("alloc_space", site) / allocated, 1, delta=off + 0.1)
            self.assertAlmostEqual(profile.sum("inuse_space", site) / held, 1, delta=off * math.sqrt(2) + 0.1)

    def test_the_leaf_is_who_asked(self):
        profile = self.sampled(self.first, SAMPLES)
        leaves = sum(s.values[1] for s in profile.samples if s.names[0] in SITES)
        self.assertGreater(leaves / profile.sum("alloc_space"), 0.9)

    def test_leaks(self):
        profile = self.sampled(self.second, SAMPLES, "&leaks=1")
        self.assertGreater(profile.sum("inuse_space", "site_leak") / profile.sum("inuse_space"), 0.9)

    def test_it_says_where_it_is_from(self):
        profile = self.sampled(self.first, 100)
        self.assertIn("itself", profile.comment("allocator="))
        self.assertTrue(profile.comment("sampled=").endswith("lost=0"), profile.comments)

    def in_use(self, workload):
        """Returns the latest heap value of the process's timeline, or None."""
        answer = self.daemon.get(f"/memory?pid={workload.pid}")
        if answer.status == 404:
            return None
        memory = answer.json()
        return memory["points"][-1][memory["fields"].index("heap_inuse")]

    def test_the_timeline_has_what_is_in_use(self):
        self.assertTrue(until(lambda: (self.in_use(self.second) or 0) > LEAKED, 90))
        # The process is stopped, so that all readings agree whenever they are made.
        os.kill(self.second.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.second.pid, signal.SIGCONT)
        profile = self.heap(self.second)
        held = sum(more for _, more in self.second.truth(profile).values())
        told = profile.sum("inuse_space")
        self.assertTrue(until(lambda: abs(self.in_use(self.second) - told) < told / 100), told)
        self.assertAlmostEqual(self.in_use(self.second), held, delta=held / 10)
        self.assertIsNone(self.in_use(self.plain))

    def test_who_does_not_has_none(self):
        self.sampled(self.first, 100)
        profile = self.heap(self.plain, "&seconds=1&force=1&rate=4KiB")
        self.assertTrue(profile.comment("allocator=").startswith("glibc"), profile.comments)

    def test_children_live(self):
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "PROFD_HEAP_RATE": "4KiB"}
        with Workload(sys.executable, "-c", FORKS, stdin=subprocess.PIPE, env=environment) as parent:
            self.sampled(parent, 1)
            with parent.process.stdin as stdin:
                stdin.write("go\n")
            self.assertEqual(parent.process.stdout.readline(), "failed 0\n")


class Telling(unittest.TestCase):
    """Programs with their own probes."""

    def setUp(self):
        self.daemon = daemon.Daemon()
        self.addCleanup(self.daemon.stop)
        self.folder = tempfile.mkdtemp(prefix="profd-tells-", dir=daemon.BUILD)
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)

    def program(self, name, old=b"", new=b""):
        """Makes a copy of `tells` with the same build ID, and with `old` replaced by `new`."""
        path = os.path.join(self.folder, name)
        with open(workload_path("tells"), "rb") as source, open(path, "wb") as copy:
            copy.write(source.read().replace(old, new))
        os.chmod(path, 0o755)
        return path

    def wait_told(self, *workloads):
        """Waits until profd hears the programs; before that, /heap is a profile with probes, of half a minute."""
        self.assertTrue(until(lambda: self.heaps()["standing"] >= len(workloads)))
        self.assertTrue(until(lambda: all(self.daemon.get(f"/heap?pid={one.pid}").status == 200 for one in workloads)))

    def as_nobody(self, script, *arguments, **environment):
        """Runs a script as another user, in a process group that is killed at the end."""
        started = Workload(sys.executable, "-c", DROP + script, *arguments, env={**os.environ, **environment},
                           start_new_session=True)
        self.addCleanup(self.end, started)
        return started

    @staticmethod
    def end(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.__exit__()

    def heaps(self):
        return self.daemon.get("/status").json()["heaps"]


class HeapTellers(Telling):
    def is_listened_to(self, path):
        return any(link.endswith(path) for link in uprobe_paths(self.daemon))

    def test_probes_are_those_of_the_very_file(self):
        """A build ID is only a file's own claim, so profd reads the positions of probes from each file itself."""
        other = self.program("other", b"otel_memory", b"no_probes__")
        with contextlib.ExitStack() as running:

            def run(path):
                return running.enter_context(Workload(path))

            def run_until_listened_to(path):
                run(path)
                self.assertTrue(until(lambda: self.is_listened_to(path)), path)

            run_until_listened_to(self.program("first"))
            run(other)
            # profd handles changes in batches, in no order within a batch; `last` is in a later batch than `other`.
            run_until_listened_to(self.program("next"))
            run_until_listened_to(self.program("last"))
            self.assertFalse(self.is_listened_to(other))

    def test_files_of_one_user_leave_room_and_are_let_go(self):
        def listened(name):
            return {path for path in uprobe_paths(self.daemon) if os.path.basename(path).startswith(name)}

        greedy = self.as_nobody(MAPPERS, *(self.program(f"greedy{i}") for i in range(41)))
        self.assertTrue(until(lambda: self.heaps()["heap_files_refused"]))
        # The user has half of the places, or fewer where other programs of this host use some.
        self.assertTrue(until(lambda: 20 <= len(listened("greedy")) <= 32), len(listened("greedy")))
        with Workload(self.program("mine")):
            self.assertTrue(until(lambda: listened("mine")))
        self.end(greedy)
        self.as_nobody(MAPPERS, *(self.program(f"later{i}") for i in range(20)))
        self.assertTrue(until(lambda: len(listened("later")) == 20, 90), len(listened("later")))
