# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Start and end of the daemon: errors say what to do, and nothing is left in the kernel."""

import concurrent.futures
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from daemon import PROFD, Daemon, bpf_left, free_port


class Endings(unittest.TestCase):
    def test_sigterm_ends_it_cleanly_within_a_second(self):
        for name in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(name.name):
                profd = Daemon()
                ids = profd.bpf_ids()
                self.assertTrue(ids["prog"] and ids["map"])
                code, took = profd.stop(name)
                self.assertEqual(code, 0)
                self.assertLess(took, 1.0)
                self.assertEqual(bpf_left(ids), {})

    def test_sigterm_with_a_parked_request(self):
        profd = Daemon()
        ids = profd.bpf_ids()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            parked = pool.submit(profd.get, "/profile?seconds=60")
            time.sleep(0.5)
            code, took = profd.stop()
            self.assertEqual(parked.result().status, 503)
        self.assertEqual(code, 0)
        self.assertLess(took, 1.0)
        self.assertEqual(bpf_left(ids), {})

    def test_kill_9_leaves_nothing_in_the_kernel(self):
        profd = Daemon()
        ids = profd.bpf_ids()
        code, _ = profd.stop(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(bpf_left(ids), {})

    def test_it_can_start_again_at_once(self):
        first = Daemon()
        port = first.port
        first.profile("seconds=1")
        first.stop()
        again = subprocess.Popen(
            [PROFD, "serve", "--listen", f"127.0.0.1:{port}"], stderr=subprocess.PIPE, text=True
        )
        try:
            time.sleep(1)
            self.assertIsNone(again.poll(), "the address is still in use")
        finally:
            again.terminate()
            again.communicate()


class StartUpErrors(unittest.TestCase):
    def assert_refused(self, argv, pattern, **options):
        result = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False, **options)
        self.assertNotEqual(result.returncode, 0, argv)
        self.assertGreater(result.returncode, 0, "killed by a signal")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertRegex(result.stderr, pattern)

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assert_refused([PROFD, "serve", "--listen", f"127.0.0.1:{port}"], f"{port}.*in use")

    def test_bad_addresses(self):
        for address in ("999.1.1.1:9090", "127.0.0.1:99999", "127.0.0.1:x", "127.0.0.1", "", "unix:"):
            with self.subTest(address):
                self.assert_refused([PROFD, "serve", "--listen", address], "(?i)listen|address")

    def test_bad_frequencies(self):
        for freq in ("0", "-1", "abc", "1001", "", "99x", "1e2"):
            with self.subTest(freq):
                self.assert_refused([PROFD, "serve", "--freq", freq], "freq")

    def test_bad_history(self):
        for option, value in (("--history", "never"), ("--history", "-1"), ("--history-memory", "lots")):
            with self.subTest(f"{option} {value}"):
                self.assert_refused([PROFD, "serve", option, value], "history")

    def test_unknown_option(self):
        self.assert_refused([PROFD, "serve", "--no-such-option"], "no-such-option")
        for port in (["-p", "9091"], ["--port", "9091"], ["--port=9091"]):
            self.assert_refused([PROFD, "serve", *port], "--listen.*:9091")

    def test_unknown_command(self):
        self.assert_refused([PROFD, "no-such-command"], "no-such-command")

    def test_not_root(self):
        # A copy of the program, because only the owner of the checkout may be able to enter it.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(PROFD, folder)
            os.chmod(copy, 0o755)
            argv = [copy, "serve", "--listen", f"127.0.0.1:{free_port()}"]
            self.assert_refused(argv, "(?i)root|CAP_", user=65534, group=65534, extra_groups=[], cwd="/")

    def test_help_and_version(self):
        for argv in ([PROFD, "--help"], [PROFD, "--version"], [PROFD, "serve", "--help"]):
            with self.subTest(argv[1:]):
                result = subprocess.run(argv, capture_output=True, text=True, timeout=5, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout)


class UnixSocket(unittest.TestCase):
    def test_curl_over_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profd.sock")
            with Daemon(listen=f"unix:{path}"):
                body = subprocess.run(
                    ["curl", "-sS", "--fail", "--unix-socket", path, "http://profd/healthz"],
                    check=True, capture_output=True, text=True,
                ).stdout
                self.assertEqual(body, "ok\n")
            self.assertFalse(os.path.exists(path), "its socket is left behind")

    def test_a_socket_left_by_a_killed_daemon_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profd.sock")
            Daemon(listen=f"unix:{path}").stop(signal.SIGKILL)
            with Daemon(listen=f"unix:{path}") as profd:
                self.assertTrue(profd.alive())

    def test_two_listeners(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profd.sock")
            with Daemon("--listen", f"unix:{path}") as profd:
                self.assertTrue(profd.alive())
                subprocess.run(
                    ["curl", "-sS", "--fail", "--unix-socket", path, "http://profd/readyz"],
                    check=True, capture_output=True,
                )
