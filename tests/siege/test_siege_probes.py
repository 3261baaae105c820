# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Users cannot stop the host's forks by files in which profd would put probes. FIGURES=1 prints the longest fork."""

import contextlib
import os
import shutil
import sys
import threading
import time
import unittest

import elf_file
from daemon import BUILD, Daemon
from heap_runs import until
from hostile_runs import ATTACKER, Attack, folder_of
from test_clients import as_user, curl
from test_heap_standing import LIBRARY
from workload import Workload

DRIVER = os.path.join(BUILD, "workloads", "cuda", "libcuda.so.1")
LONGEST_S = 0.5  # of a fork; with probes in the attack's files some take 3 s
SETTING = "user-probes"


class Forks:
    """Forks all the time, in a thread, and measures how long that takes."""

    def __init__(self):
        self.longest, self.count, self.stopped = 0, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopped.wait(0.02):
            begin = time.monotonic()
            child = os.posix_spawn("/bin/true", ["true"], {})
            self.longest = max(self.longest, time.monotonic() - begin)
            self.count += 1
            os.waitpid(child, 0)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.stopped.set()
        self.thread.join()


def brought(path, folder, uid=ATTACKER):
    """A copy of a library, with a build ID of its own, that belongs to the user."""
    copy = shutil.copy(path, folder)
    with open(copy, "r+b") as file:
        data = bytearray(file.read())
        elf_file.renew_build_id(data)
        file.seek(0)
        file.write(data)
    os.chown(copy, uid, uid)
    return copy


def untrusted(server):
    metrics = server.metrics()
    return metrics["profd_heap_files_untrusted_total"], metrics["profd_gpu_files_untrusted_total"]


def standing(server):
    return server.json("/status")["heaps"]["standing"]


class HostileProbes(unittest.TestCase):
    def test_a_crowded_file_gets_no_probes(self):
        with folder_of() as folder, contextlib.ExitStack() as stack:
            server = stack.enter_context(Daemon())
            files = brought(LIBRARY, folder), brought(DRIVER, folder)
            forks = stack.enter_context(Forks())
            attacks = [stack.enter_context(Attack("crowded_file", path)) for path in files]
            self.assertTrue(until(lambda: min(untrusted(server)) > 0, 60), server.log())
            address = f"{server.url}/heap?pid={attacks[0].pid}&seconds=1&force=1"
            status, body = curl(address, through=as_user(ATTACKER))
            self.assertEqual(status, 403, body)
            self.assertIn(SETTING, body)
            time.sleep(1)  # for probes that come late
            why = {source["name"]: source["why"] for source in server.json("/status")["sources"]}
            self.assertIn(SETTING, why["gpu_memory"])
            self.assertIn(f"{files[0]} of user {ATTACKER}: see the setting {SETTING}", server.log())
        if os.environ.get("FIGURES"):
            print(f"{forks.count} forks, the longest took {1000 * forks.longest:.0f} ms", file=sys.stderr, flush=True)
        self.assertGreater(forks.count, 50)
        self.assertLess(forks.longest, LONGEST_S)

    def told_itself(self, trust, preload, **options):
        """Whether profd listens to a program that samples its own allocations with that library. It counts when it may not."""
        environment = {**os.environ, "LD_PRELOAD": preload, "PROFD_HEAP_RATE": "4KiB"}
        with Daemon(f"--user-probes={trust}") as server, Workload("heap_sites", "sites", os.devnull, env=environment, **options):
            self.assertTrue(until(lambda: standing(server) or untrusted(server)[0], 20), server.log())
            return standing(server) > 0

    def test_only_trusted_users_bring_files(self):
        with folder_of() as folder:
            own = brought(LIBRARY, folder)
            self.assertTrue(self.told_itself("no", LIBRARY, uid=ATTACKER), "an installed file")
            self.assertFalse(self.told_itself("no", own, uid=ATTACKER), "a file of the user")
            self.assertFalse(self.told_itself("auto", own, uid=ATTACKER), "a file of a user who is not the only one")
            self.assertTrue(self.told_itself("no", own), "a file of the user, in a process of root's")
            self.assertTrue(self.told_itself("yes", own, uid=ATTACKER), "a file of a trusted user")


if __name__ == "__main__":
    unittest.main()
