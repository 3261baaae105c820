# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Users' memory: memory that takes long to read delays only the clients that ask for it, and memory that grows all the time
hides no other user's growth.
"""

import json
import subprocess
import threading
import time
import unittest

from daemon import BUILD, Daemon
from hostile_runs import Attack
from warm_up import warm_up
from workload import Workload

GIB = 64  # reading its page tables takes some 0.8 s
ASKED = 24
GROWING = 40
TIMES = 6  # rounds; a second has some 25 samples, too few to judge shares
BYTES = 1  # the index of the value in bytes


class PageTables(unittest.TestCase):
    def test_who_asks_for_pss_waits_and_nobody_else(self):
        answers = []

        def ask(target):
            answer = profd.get(target, timeout=120)
            answers.append((answer.status, json.loads(answer.body)))

        with Daemon() as profd, Attack("page_tables", GIB) as attack, Workload("spin_two") as spin:
            target = f"/memory?pid={attack.pid}&last=10s"
            end = time.monotonic() + 30
            while profd.get(target).status != 200 or profd.get(f"/memory?pid={spin.pid}").status != 200:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)
            began = time.monotonic()
            profd.get("/profile?last=10s&format=text")
            alone = time.monotonic() - began
            askers = [threading.Thread(target=ask, args=[f"{target}&pss=1"]) for _ in range(ASKED)]
            for thread in askers:
                thread.start()
            time.sleep(0.5)
            began = time.monotonic()
            self.assertEqual(profd.get("/profile?last=10s&format=text").status, 200)
            self.assertLess(time.monotonic() - began, 3 + 2 * alone)
            # A request about another user's process does not wait behind those.
            other = json.loads(profd.get(f"/memory?pid={spin.pid}&pss=1").body)
            self.assertGreater(other["pss_bytes"], 0)
            self.assertNotIn("pss_error", other)
            for thread in askers:
                thread.join()
            self.assertLess(time.monotonic() - began, 5 + 2 * alone)
            self.assertEqual([status for status, _ in answers], [200] * ASKED)
            late = [body for _, body in answers if body["pss_bytes"] is None]
            self.assertGreater(len(late), 0)
            for body in late:
                self.assertEqual(body["pss_error"], "the process's memory could not be read within 2 seconds")
                self.assertIn("growing_stacks", body)
            self.assertEqual(profd.metrics()["profd_http_pss_missed_total"], len(late))


class Growth(unittest.TestCase):
    def test_others_growth_is_seen_in_a_storm(self):
        with Daemon("--growth=yes") as profd, Attack("growth", GROWING), \
                Workload("memory_growth", "anon", str(TIMES), cwd=BUILD, stdin=subprocess.PIPE) as grows:
            warm_up(profd)
            before, start = profd.metrics(), time.time()
            grows.process.stdin.write("go\n")
            grows.process.stdin.flush()
            truth = int(grows.process.stdout.readline())
            profile = profd.profile(f"from={start:.3f}&pid={grows.pid}&type=rss")
            grown = profile.total(BYTES, lambda sample: "main" in sample.names)
            # Growth that was postponed last is in no sample, because nothing grows after it.
            self.assertTrue(0.7 < grown / truth < 1.02, grown / truth)
            share = profile.total(BYTES, lambda sample: "grow60" in sample.names) / grown
            self.assertTrue(0.3 < share < 0.9, share)
            # The storm has exceeded the host's pace.
            self.assertGreater(profd.metrics()["profd_growth_put_off_total"], before["profd_growth_put_off_total"])
            grows.process.stdin.close()


if __name__ == "__main__":
    unittest.main()
