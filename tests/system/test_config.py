# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The configuration file: profd checks and shows it, and reads it at the start and again on SIGHUP."""

import os
import signal
import subprocess
import tempfile
import unittest

from daemon import PROFD, Daemon
from heap_runs import until

LANE = "clients"
USAGE, CONFIG = 64, 78  # of sysexits.h


def profd(*words):
    # Messages are as in a terminal: for the journal, levels would be numbers.
    environment = {name: value for name, value in os.environ.items() if name != "JOURNAL_STREAM"}
    return subprocess.run([PROFD, *words], capture_output=True, text=True, timeout=30, check=False, env=environment)


class Config(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "profd.conf")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_check(self):
        for text, status, says in (
                ("freq = 19\n", 0, f"{self.path}: all settings are good\n"),
                ("freq = 19\nhistroy = 5m\n", CONFIG, f"{self.path}:2: there is no setting \"histroy\"\n"),
                ("freq = fast\n", CONFIG, f"{self.path}:1: bad freq = fast: an integer from 1 to 1000 is accepted\n")):
            with self.subTest(text=text):
                self.write(text)
                done = profd("config", "check", "--config", self.path)
                self.assertEqual((done.returncode, done.stdout + done.stderr.replace("profd: error: ", "")), (status, says))

    def test_what_is_wrong_starts_nothing(self):
        self.write("freq = fast\n")
        for words, status in ((("serve", "--config", self.path), CONFIG), (("serve", "--config", "/nowhere"), CONFIG),
                              (("serve", "--freq", "fast"), USAGE), (("config",), USAGE), (("config", "eat"), USAGE)):
            with self.subTest(words=words):
                done = profd(*words)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (status, "", 1), done.stderr)

    def test_what_is_shown_is_understood(self):
        self.write("listen = :1\nlisten = unix:/a\ndebuginfod = https://a http://b\nverbose = yes\nhistory = 90s\n")
        shown = profd("config", "show", "--config", self.path, "--freq", "20").stdout
        self.assertIn("\nhistory = 90s\n", shown)
        self.assertIn("\nfreq = 20\n", shown)
        self.write(shown)
        self.assertEqual(profd("config", "show", "--config", self.path).stdout, shown)

    def test_read_again(self):
        self.write("history-memory = 32MiB\n")
        with Daemon("--config", self.path) as server:
            self.assertEqual(self.history(server), 32)
            self.write("history-memory = 16MiB\nhistory = 5m\n")
            os.kill(server.pid, signal.SIGHUP)
            self.assertTrue(until(lambda: self.history(server) == 16))
            self.assertIn("history has changed, which requires a restart", server.log())
            self.write("history-memory = 64MiB\nnonsense\n")
            os.kill(server.pid, signal.SIGHUP)
            self.assertTrue(until(lambda: f"{self.path}:2: neither a setting" in server.log()))
            self.assertEqual(self.history(server), 16)
            self.assertGreater(server.profile("last=1s").duration_ns, 0)

    def history(self, server):
        """Returns the MiB of all kinds of profile together."""
        kinds = server.get("/status").json()["recorder"].values()
        # Profiles get 30 of the 32 parts of the memory.
        return round(sum(kind["bytes_max"] for kind in kinds) * 32 / 30 / (1 << 20))


if __name__ == "__main__":
    unittest.main()
