# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""When a GPU runs out of memory, profd keeps what the process held at that moment, even after the process has ended."""

import unittest

from gpu_runs import GpuProgram, Sums, sums_of, until, watching
from profile_pb import Profile
from warm_up import warm_up

LANE = "gpu"


class GpuOom(unittest.TestCase):
    def kept(self, server, program):
        """Returns the rows of /oom of a program."""
        return [row for row in server.json("/oom") if row["pid"] == program.pid]

    def test_what_was_held_is_kept(self):
        with watching("gpu_truth", "driver") as server, GpuProgram("gpu_truth", "driver") as program:
            program.tell("sites")
            warm_up(server, 15)
            program.tell("empty", "sites")
            said = program.tell("oom")
            self.assertTrue(until(lambda: self.kept(server, program)), server.json("/oom"))
            row = self.kept(server, program)[0]
            self.assertIn("gpu", row["reason"])
            program.tell("empty")
            self.assertEqual(sums_of(server, program, "gpu_memory").sum("inuse_space"), 0)
            program.process.kill()
            program.process.wait()
            answer = server.get(f"/oom?id={row['id']}")
            self.assertEqual(answer.status, 200, answer.body[:200])
            sums = Sums(Profile(answer.body))
            for key, counts in said["sites"].items():
                site, device = key.split()
                with self.subTest(key):
                    self.assertEqual(sums.sum("inuse_space", site, device=device), counts[3])

    def test_a_limit_is_reached(self):
        """On a device with little memory, the first allocation that does not fit is recorded."""
        small = {"FAKECUDA_MEMORY": str(64 << 20)}
        with watching("gpu_truth", "driver") as server, GpuProgram("gpu_truth", "driver", **small) as program:
            program.tell("sites")
            self.assertEqual(self.kept(server, program), [])
            program.process.stdin.write("peak\n")
            program.process.stdin.flush()
            self.assertNotEqual(program.process.wait(20), 0)
            self.assertTrue(until(lambda: self.kept(server, program)), server.json("/oom"))
