# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is read of a process whose memory takes long to go through delays nobody but who asks for it."""

import json
import threading
import time
import unittest

from daemon import Daemon
from hostile_runs import Attack
from workload import Workload

GIB = 64  # some 0.8 s of going through its page tables
ASKED = 24


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
            # Of another user: not behind those.
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


if __name__ == "__main__":
    unittest.main()
