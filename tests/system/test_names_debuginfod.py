# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Debug files from debuginfod servers: in the background, and only from those that were named."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

import daemon
import elf_file
from daemon import Daemon, free_port
from workload import Workload, workload_path

LANE = "memory"
VARIANT = "names/cc-stripped"
SOURCE = os.path.join(daemon.ROOT, "tests/workloads/levels.cc")
INDEX_SECONDS = 30  # that the server takes to look at its folder, amply
SILENT_SECONDS = 90  # after which libdebuginfod gives up a server that says nothing
FETCH_SECONDS = 30  # that a download from this machine may take, amply


class Debuginfod(unittest.TestCase):
    def setUp(self):
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)
        self.folder = self.running.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)
        # What the library downloads is kept here, and what others configured is not looked at.
        environment = {"DEBUGINFOD_CACHE_PATH": f"{self.folder}/cache"}
        self.running.enter_context(unittest.mock.patch.dict(os.environ, environment))

    def start(self, *options):
        return self.running.enter_context(Daemon(*options))

    def start_stripped(self):
        """The program, alone in a folder: nothing beside it has its debug information."""
        path = shutil.copy(workload_path(VARIANT), f"{self.folder}/program")
        return self.running.enter_context(Workload(path))

    def lines(self, profile):
        return {
            (frame.file, frame.line) for frames in profile.frames.values() for frame in frames
            if frame.file == SOURCE and frame.line
        }

    def serve_debug_file(self):
        """A server of the program's debug file, ready; its URL."""
        served = f"{self.folder}/served"
        os.mkdir(served)
        subprocess.run(
            ["objcopy", "--only-keep-debug", workload_path(VARIANT + ".reference"), f"{served}/program.debug"],
            check=True,
        )
        port = free_port()
        command = ["debuginfod", "-F", "-p", str(port), "-d", f"{self.folder}/index", served]
        environment = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
        server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=self.folder
        )
        self.running.callback(server.wait)
        self.running.callback(server.kill)
        url = f"http://127.0.0.1:{port}"
        self.wait_for_index(f"{url}/buildid/{elf_file.build_id(workload_path(VARIANT))}/debuginfo")
        return url

    def wait_for_index(self, url):
        end = time.monotonic() + INDEX_SECONDS
        while True:
            with contextlib.suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url, timeout=5):
                return
            self.assertLess(time.monotonic(), end, f"debuginfod does not have {url}")
            time.sleep(0.1)

    def listen(self):
        """A server that accepts connections and never answers them."""
        listener = self.running.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"

    def fetches(self, server):
        return {name: value for name, value in server.metrics().items() if "debuginfod" in name}

    def was_asked(self, listener):
        try:
            listener.accept()[0].close()
            return True
        except BlockingIOError:
            return False

    def test_a_stripped_program_gets_lines(self):
        server = self.start("--debuginfod", self.serve_debug_file())
        spin = self.start_stripped()
        end = time.monotonic() + FETCH_SECONDS
        while not self.lines(server.profile(f"seconds=1&pid={spin.pid}")):
            self.assertLess(time.monotonic(), end, self.fetches(server))
        self.assertGreaterEqual(server.metrics()["profd_debuginfod_fetched_total"], 1)

    def test_a_server_that_never_answers_delays_nothing(self):
        listener, url = self.listen()
        server = self.start("--debuginfod", url)
        spin = self.start_stripped()
        for _ in range(2):
            answer = server.get(f"/profile?seconds=2&pid={spin.pid}")
            self.assertEqual(answer.status, 200)
            self.assertLess(answer.seconds, SILENT_SECONDS / 4)
        self.assertTrue(self.was_asked(listener))
        code, took = server.stop()
        self.assertEqual(code, 0)
        # It looks up once a second.
        self.assertLess(took, 5)

    def test_nobody_is_asked_unless_named(self):
        listener, url = self.listen()
        with unittest.mock.patch.dict(os.environ, {"DEBUGINFOD_URLS": url}):
            server = self.start()
        spin = self.start_stripped()
        for _ in range(2):
            self.assertEqual(self.lines(server.profile(f"seconds=1&pid={spin.pid}")), set())
        self.assertFalse(self.was_asked(listener))
