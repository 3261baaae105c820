# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Clients that are very many, very slow, or send nonsense: each gets the right answer or none, and profd stays small."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from crowd import Client, Crowd
from daemon import Daemon
from profile_pb import Profile
from workload import Workload, wait_used, workload_path

LANE = "crowd"
MANY = 1000
ANSWERS = 32 << 20
KEEP_ALIVE = b"Host: localhost\r\n\r\n"


class HostileClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        cls.daemon = Daemon("--answer-memory", f"{ANSWERS >> 20}MiB")
        cls.addClassCleanup(cls.daemon.stop)
        # Each stack of this program has a megabyte of names.
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        plain = os.path.join(folder.name, "plain")
        subprocess.run(["strip", "-g", "-o", plain, workload_path("hostile")], check=True)
        cls.spin = Workload(plain, "hostile", 100)
        cls.addClassCleanup(cls.spin.__exit__)
        wait_used(cls.spin, 1)
        cls.daemon.profile("seconds=1")
        # The program only runs inside spinning().
        cls.spin.process.send_signal(signal.SIGSTOP)

    @contextlib.contextmanager
    def spinning(self):
        self.spin.process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self.spin.process.send_signal(signal.SIGSTOP)

    def setUp(self):
        self.sockets, self.rss = self.daemon.fd_count("socket"), self.daemon.rss_kib()
        self.addCleanup(self.assert_small)

    def assert_small(self):
        """Nothing of a test is left, except the memory of connections that are kept open."""
        end = time.monotonic() + 40
        while self.daemon.fd_count("socket") > self.sockets:
            self.assertLess(time.monotonic(), end, "sockets are left")
            time.sleep(0.1)
        self.assertTrue(self.daemon.alive())
        http = self.daemon.json("/status")["http"]
        self.assertEqual((http["under_way"], http["answer_bytes"]), (0, 0))
        self.assertLess(self.daemon.rss_kib() - self.rss, 96 * 1024)

    def test_1000_readers_share_an_answer(self):
        seconds = int(os.environ.get("PROFD_TEST_SECONDS", "2"))
        shared, peak = self.daemon.json("/status")["http"]["answers_shared"], 0

        def watch():
            nonlocal peak
            peak = max(peak, self.daemon.rss_kib())

        with Crowd(self.daemon, MANY) as crowd, self.spinning():
            for _ in range(2):  # twice on the same connections
                start, before = time.monotonic(), self.spin.cpu_seconds()
                crowd.ask(f"/profile?seconds={seconds}&idle=1")
                self.assertTrue(crowd.wait(120, watch), "not all were answered")
                used, took = self.spin.cpu_seconds() - before, time.monotonic() - start
                self.assertEqual({client.status for client in crowd.clients}, {200})
                bodies = {client.body() for client in crowd.clients}
                for profile in map(Profile, bodies):
                    # On a busy host the profile may be longer at both ends.
                    self.assertGreater(profile.duration_ns, (seconds - 0.1) * 1e9, profile.comments)
                    ticks = profile.duration_ns / 1e9 * 99 * os.cpu_count()
                    self.assertLess(profile.total(), ticks * 1.25, profile.comments)
                    # A sleeping CPU may have no samples. The program never sleeps, but a part of its CPU time may lie
                    # before or after the profile.
                    spun = profile.total(where=lambda sample: sample.labels["pid"] == self.spin.pid)
                    sure = max(used - (took - profile.duration_ns / 1e9), 0)
                    self.assertGreater(spun, sure * 99 / 2, profile.comments)
                for client in crowd.clients:
                    client.data = b""
        status = self.daemon.json("/status")["http"]
        self.assertGreater(status["answers_shared"] - shared, MANY)
        self.assertLess(peak - self.rss, 96 * 1024)

    def test_readers_that_stop_reading_and_askers_that_stop_asking(self):
        target = f"/profile?last=1m&format=folded&pid={self.spin.pid}"
        with self.spinning():
            wait_used(self.spin, 1)
        size = len(self.daemon.get(target).body)
        self.assertGreater(size, 1 << 20, "too large for a socket")
        with Crowd(self.daemon, 40, small=True) as crowd, Crowd(self.daemon, 100) as halves:
            for client in halves.clients:
                client.sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
            # Each client's answer differs, so that no answer is shared.
            for number, client in enumerate(crowd.clients):
                client.ask(f"{target}&comm=hostile" + "&comm=x" * number)
            end = time.monotonic() + 60
            while (http := self.daemon.json("/status")["http"])["refused_memory"] < 1:
                self.assertLess(time.monotonic(), end, http)
                time.sleep(0.1)
            self.assertLess(http["answer_bytes"], ANSWERS * 9 // 8, "small ones are counted apart")
            self.assertEqual(self.daemon.get("/metrics").status, 200)
            self.assertEqual(self.daemon.get("/healthz").status, 200)
            refused = self.daemon.get(target)
            if refused.status != 200:  # memory may have been freed meanwhile
                self.assertEqual(refused.status, 503)
                self.assertEqual(refused.headers["Retry-After"], "1")
                self.assertIn("answers are still being sent", refused.text)
            # profd disconnects the clients that do not read, and the memory is free for others.
            end = time.monotonic() + 60
            while self.daemon.get(target).status != 200:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)
            # profd also disconnects the clients with half a request, long before they close the connection themselves.
            self.assertTrue(halves.wait(40))

    def exchange(self, data, patience=20):
        """Returns everything that the daemon sends until it closes the connection or has answered."""
        with self.daemon.connect(patience) as s:
            answer = b""
            try:
                s.sendall(data)
                while not answer or (b"Connection: close" in answer and b"\r\n\r\n" in answer):
                    more = s.recv(65536)
                    if not more:
                        break
                    answer += more
            except ConnectionError:
                pass  # the daemon closed the connection before it had read everything
            return answer

    def test_requests_that_are_none(self):
        long = b"a" * (1 << 20)
        headers = b"".join(b"X-%d: y\r\n" % number for number in range(10000))
        get = b"GET /healthz HTTP/1.1\r\n"
        for name, data, statuses in (
            ("10,000 headers", get + headers + KEEP_ALIVE, (431,)),
            ("a header of 1 MiB", get + b"X: " + long + b"\r\n" + KEEP_ALIVE, (431,)),
            ("a name of 1 MiB", get + long + b": x\r\n" + KEEP_ALIVE, (431,)),
            ("a line of 1 MiB", b"GET /" + long + b" HTTP/1.1\r\n" + KEEP_ALIVE, (414,)),
            ("a method of 1 MiB", long + b" / HTTP/1.1\r\n" + KEEP_ALIVE, (400, 413, 414, 431, 501)),
            ("a negative length", get + b"Content-Length: -1\r\n" + KEEP_ALIVE, (400,)),
            ("a huge length", get + b"Content-Length: 99999999999999999999\r\n" + KEEP_ALIVE, (413,)),
            ("chunks that are none", get + b"Transfer-Encoding: chunked\r\n" + KEEP_ALIVE + b"zz\r\n", (400,)),
            ("chunks", get + b"Transfer-Encoding: chunked\r\n" + KEEP_ALIVE + b"3\r\nabc\r\n0\r\n\r\n", (200,)),
            ("a folded header", get + b"X: a\r\n b\r\n" + KEEP_ALIVE, (200,)),
            ("no colon", get + b"nonsense\r\n" + KEEP_ALIVE, (400,)),
            ("two versions on", b"GET / HTTP/3.0\r\n" + KEEP_ALIVE, (505,)),
            ("no version", b"GET /healthz\r\n\r\n", (400,)),
            ("another method", b"BREW /healthz HTTP/1.1\r\n" + KEEP_ALIVE, (405,)),
            ("a tunnel", b"CONNECT localhost:22 HTTP/1.1\r\n" + KEEP_ALIVE, (404, 405)),
            ("a star", b"OPTIONS * HTTP/1.1\r\n" + KEEP_ALIVE, (404, 405)),
            ("another scheme", b"GET ftp://localhost/healthz HTTP/1.1\r\n" + KEEP_ALIVE, (404,)),
        ):
            with self.subTest(name):
                answer = self.exchange(data)
                if answer or len(data) < 1 << 20:  # unread data may cause a reset in place of the answer
                    self.assertIn(int(answer.split()[1]), statuses, answer[:200])
                self.assertNotIn(b"aaaa", answer, "nothing of it comes back")

    def test_arguments_that_there_is_no_room_for(self):
        """libmicrohttpd reports the start of such a request but not its end; profd frees its memory all the same. What the
        daemon keeps of the programs of other tests is up to 8 MiB of its memory in this time."""
        self.ask_and_leave(100)
        before = self.daemon.rss_kib()
        self.ask_and_leave(3000)
        self.assertLess(self.daemon.rss_kib() - before, 18 * 1024, "12 KiB each would be 36 MiB")

    def ask_and_leave(self, times):
        began = self.daemon.fd_count("socket")
        for _ in range(times):
            with self.daemon.connect(20) as s:
                s.sendall(b"GET /healthz?" + b"&" * 12000 + b" HTTP/1.1\r\n" + KEEP_ALIVE)
        end = time.monotonic() + 60
        while self.daemon.fd_count("socket") > began:
            self.assertLess(time.monotonic(), end, "sockets are left")
            time.sleep(0.1)

    def test_paths_that_leave(self):
        for target in (
            "/ui/../../etc/passwd", "/ui/..%2f..%2fetc/passwd", "/ui/%2e%2e/%2e%2e/etc/passwd", "/ui//etc/passwd",
            "/ui/./app.js", "/ui/app.js%00.html", "/ui/\\..\\..\\etc\\passwd", "/source/../../etc/passwd", "/ui/",
            "/source?file=/etc/shadow", "/source?file=../../etc/shadow", "/source?file=/proc/self/environ",
            "/source?file=/etc/../etc/shadow", "/source?file=%2fetc%2fshadow", "/source?file=/etc/shadow%00.c",
        ):
            with self.subTest(target):
                answer = self.daemon.get(target)
                self.assertIn(answer.status, (400, 403, 404))
                self.assertNotIn("root:", answer.text)

    def test_dribbled_and_half_requests(self):
        whole = b"GET /healthz HTTP/1.1\r\n" + KEEP_ALIVE
        with Crowd(self.daemon, 200) as crowd:
            for number, client in enumerate(crowd.clients):
                client.sock.sendall(whole[: 1 + number % (len(whole) - 1)])
            for _ in range(3):
                health = self.daemon.get("/healthz")
                self.assertEqual(health.status, 200)
                self.assertLess(health.seconds, 5)
            for number, client in enumerate(crowd.clients):  # every second client completes its request
                if number % 2:
                    client.sock.sendall(whole[1 + number % (len(whole) - 1):])
            odd = Crowd.__new__(Crowd)
            odd.clients = crowd.clients[1::2]
            self.assertTrue(odd.wait(30))
            self.assertEqual({client.status for client in odd.clients}, {200})

    def test_many_in_a_row_and_garbage_between(self):
        client = Client(("127.0.0.1", self.daemon.port))
        self.addCleanup(client.sock.close)
        one = b"GET /healthz HTTP/1.1\r\n" + KEEP_ALIVE
        client.sock.sendall(one * 200 + b"\x00\xff garbage\r\n\r\n")

        def answers():
            return re.findall(rb"HTTP/1\.1 (\d+)", client.data)

        # All requests are answered. The garbage gets no answer but perhaps a refusal.
        while len(answers()) < 200 and client.read():
            pass
        client.sock.settimeout(2)
        while client.read():
            pass
        answers = answers()
        self.assertEqual(answers[:200], [b"200"] * 200, (client.closed, client.data[-200:]))
        self.assertIn(answers[200:], ([], [b"400"]))

    def test_clients_that_reset(self):
        for number in range(200):
            with self.daemon.connect() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                target = b"/profile?seconds=600" if number % 2 else b"/profile?last=10s"
                s.sendall(b"GET " + target + b" HTTP/1.1\r\n" + KEEP_ALIVE)
