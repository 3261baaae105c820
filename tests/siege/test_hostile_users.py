# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Attacks by other users of the host: the daemon keeps answering, its memory and descriptors stay within bounds, it names other
users' programs, and afterwards it is as before. Each attack is a program of tests/hostile, whose first comment says what must
hold. FIGURES=1 prints the measured figures.
"""

import contextlib
import os
import shutil
import sys
import threading
import time
import unittest

from daemon import Daemon
from health import ONCE, SLOWEST
from heap_runs import until
from hostile_runs import ATTACKER, Attack, Siege, Starting, folder_of
from workload import Workload

needs_fuse = unittest.skipUnless(os.path.exists("/dev/fuse"), "needs file systems in user space: no /dev/fuse")
LOOP = "print('ready', flush=True)\nwhile True: pass\n"


class Sieges(unittest.TestCase):
    slowest = SLOWEST

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(folder_of())

    def besiege(self, *attack, **options):
        return self.besiege_by([attack], **options)

    def besiege_by(self, attacks, uid=ATTACKER, options=(), seconds=4, meanwhile=None, through=()):
        """Attacks a new daemon for some seconds, in which another user's program starts, which profd must name.

        The daemon and its client have CPU priority: how a busy host shares its CPUs is not profd's doing.
        """
        server = self.stack.enter_context(Daemon(*options, through=through, first=True))
        siege = Siege(server)
        with siege.watched(), contextlib.ExitStack() as running:
            for attack in attacks:
                running.enter_context(Attack(*attack, uid=uid))
            end = time.monotonic() + seconds
            if meanwhile:
                meanwhile(server)
            siege.name_innocent()
            time.sleep(max(0, end - time.monotonic()))
        siege.recovered = siege.recover()
        if os.environ.get("FIGURES"):
            print(siege, file=sys.stderr, flush=True)
        return siege

    def assert_held(self, siege, more_mib):
        """Asserts that the daemon answered at once, named the innocent program, stayed within the memory, and has recovered."""
        self.assertEqual(siege.health.told["daemon"]["failed"], 0, siege)
        self.assertLess(siege.health.second, self.slowest, siege)
        self.assertLess(siege.health.worst, ONCE, siege)
        self.assertIsNotNone(siege.named, siege)
        self.assertGreater(siege.named, 0.9, siege)
        self.assertLess(siege.late, 5, siege)
        self.assertLess(siege.peak_mib - siege.before_mib, more_mib, siege)
        self.assertIsNotNone(siege.recovered, siege)


class Waiting(Sieges):
    """Attacks that use next to no CPU time. A daemon's memory includes what it keeps of the programs of other tests."""

    LANE = "crowd"
    slowest = 0.3  # seconds; the CPUs are busy beside, and an attack that works takes whole ones

    def ready_under(self, *attack, uid=ATTACKER):
        """Starts a daemon under an attack; returns the seconds until it is ready, or None. The daemon ends after the attack."""
        with Attack(*attack, uid=uid):
            ready = self.stack.enter_context(Starting()).wait_ready(20)
            if os.environ.get("FIGURES"):
                print("not ready in time" if ready is None else f"ready after {ready:.1f} s", file=sys.stderr, flush=True)
            return ready

    def test_leases_at_the_start(self):
        self.assertIsNotNone(self.ready_under("leases", self.folder, 2))

    @needs_fuse
    def test_a_file_system_that_hangs_at_the_start(self):
        self.assertIsNotNone(self.ready_under("hung_fs", self.folder, ATTACKER, "getattr", "open", "read", uid=0))

    def test_slow_headers(self):
        """A connection that gets a byte now and then does not live much longer than 15 seconds."""
        server = self.stack.enter_context(Daemon(first=True))
        siege = Siege(server)
        with siege.watched(), Attack("slow_headers.py", server.port, 300, 5) as attack:
            start, left = time.monotonic(), 300
            while left and time.monotonic() < start + 25:
                left = int(attack.process.stdout.readline())
            siege.name_innocent()
        siege.recovered = siege.recover()
        self.assertEqual(left, 0, "connections are open after 25 s")
        self.assert_held(siege, 64)

    def test_leases(self):
        self.assert_held(self.besiege("leases", self.folder, 2), 64)

    @needs_fuse
    def test_file_systems_that_hang(self):
        attacks = [("hung_fs", self.folder, ATTACKER, operation) for operation in ("getattr", "open", "read")]
        self.assert_held(self.besiege_by(attacks, uid=0), 64)

    def run_script(self, operation):
        """Runs a user's script whose source is on a file system that hangs; returns (its process, the source's path)."""
        attack = self.stack.enter_context(Attack("hung_fs", self.folder, ATTACKER, operation, uid=0))
        path = os.path.join(self.folder, f"app_{operation}.py")
        script = f"exec(compile({LOOP!r}, {path!r}, 'exec'))"
        return self.stack.enter_context(Workload(
            shutil.which("nsenter"), "--mount", f"--target={attack.pid}", "setpriv", f"--reuid={ATTACKER}",
            f"--regid={ATTACKER}", "--clear-groups", sys.executable, "-c", script)), path

    @needs_fuse
    def test_source_files_that_hang(self):
        """A request for the lines of such a script is answered, and so are all requests that wait for it."""
        server = self.stack.enter_context(Daemon())
        for told, path in [self.run_script(operation) for operation in ("lookup", "getattr", "open", "read")]:
            with self.subTest(path):
                table, source = f"/profile?last=1m&pid={told.pid}&format=text&by=line", f"/source?file={path}"
                self.assertTrue(until(lambda table=table, path=path: path in server.get(table).text, 60))
                asked = time.monotonic()
                lines, answer = server.get(table), server.get(source)
                self.assertLess(time.monotonic() - asked, 3)
                self.assertEqual(lines.status, 200, lines.text)
                self.assertIn(path, lines.text)
                self.assertEqual(answer.status, 403, answer.text)
                self.assertIn("user's program", answer.text)

    def test_debug_files_that_are_fifos(self):
        def meanwhile(server):
            """Asks for the names of the attack's programs."""
            threading.Thread(target=server.get, args=["/profile?seconds=1"], kwargs={"timeout": 120}, daemon=True).start()
            time.sleep(3)

        self.assert_held(self.besiege("fifos.py", self.folder, 2, meanwhile=meanwhile), 64)

    def test_command_lines(self):
        def meanwhile(server):
            answer = server.get("/processes?cmdline=1")
            self.assertIn(answer.status, (200, 503))
            self.size = len(answer.body)

        siege = self.besiege("command_lines", 30, meanwhile=meanwhile)
        self.assertLess(self.size, 4 << 20, siege)
        self.assert_held(siege, 64)


if __name__ == "__main__":
    unittest.main()
