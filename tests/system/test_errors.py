# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Each hostile or mistaken request is refused with one line that says what is accepted, and the daemon keeps running."""

import os
import random
import unittest

import daemon

BESIDE = True


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def assert_refused(self, target, status, method="GET", says=None):
        answer = self.daemon.request(method, target)
        self.assertEqual(answer.status, status, f"{target[:80]}: {answer.body[:200]}")
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"), target)
        self.assertEqual(answer.headers["X-Go-Pprof"], "1", target)
        self.assertEqual(len(answer.text.splitlines()), 1, answer.text)
        self.assertTrue(answer.text.endswith("\n"), answer.text)
        self.assertLess(len(answer.text), 1024)
        if says:
            self.assertIn(says, answer.text)
        self.assertLess(answer.seconds, 1.0)
        self.assertTrue(self.daemon.alive())
        return answer

    def test_bad_parameters(self):
        for query, says in (
            ("seconds=0", "seconds"), ("seconds=-1", "seconds"), ("seconds=abc", "seconds"),
            ("seconds=1e9", "seconds"), ("seconds=601", "600"), ("seconds=", "seconds"),
            ("seconds=99999999999999999999999", "seconds"), ("seconds=1.5", "seconds"),
            ("seconds=%00", "NUL"), ("seconds=1&seconds=2", "seconds"), ("seconds=1&last=5s", "last"),
            ("last=yesterday", "last"), ("last=0", "last"), ("last=-5s", "last"), ("last=9999h", "last"),
            ("from=1000&to=500", "from"), ("from=nonsense", "from"), ("to=5", "from"),
            ("from=99999999999", "from"), ("from=2026-13-45T00:00:00Z", "from"),
            ("nonsense=1", "nonsense"), ("Seconds=5", "Seconds"), ("format=xml", "format"),
            ("format=", "format"), ("pid=x", "pid"), ("pid=0", "pid"), ("pid=-1", "pid"),
            ("pid=99999999999", "pid"), ("pid=1,2", "repeat the parameter"), ("tid=x", "tid"), ("comm=", "comm"), ("kernel=maybe", "kernel"),
            ("idle=2", "idle"), ("format=text&sort=up", "sort"), ("format=text&rows=-1", "rows"),
            ("&".join(f"pid={n}" for n in range(1, 200)), None), ("%zz=1", None), ("=", None),
        ):
            with self.subTest(query[:60]):
                self.assert_refused("/profile?" + query, 400, says=says)

    def test_what_does_not_exist(self):
        self.assert_refused("/profile?seconds=1&pid=4194000", 404, says="4194000")
        # Of many process IDs, some of them repeated, the message names the first unknown one.
        many = "&".join(f"pid={pid}" for pid in (os.getpid(), 4194001, 4194000, 4194002) for _ in range(16))
        self.assert_refused(f"/profile?seconds=1&{many}", 404, says="no process 4194001 ")
        for path in ("/nothing", "/profile/", "/profile/x", "/../etc/passwd", "/status%00", "//", "/%2e%2e/"):
            with self.subTest(path):
                self.assert_refused(path, 404)
        self.assert_refused("/debug/pprof/heap", 404, says="/heap?pid=PID")

    def test_a_pid_that_the_kernel_cannot_have(self):
        answer = self.daemon.get("/profile?seconds=1&pid=999999")
        self.assertEqual(answer.status, 404, answer.body[:200])

    def test_post(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "NONSENSE"):
            with self.subTest(method):
                answer = self.assert_refused("/profile?seconds=1", 405, method)
                self.assertIn("GET", answer.headers["Allow"])

    def test_unknown_parameters_of_other_endpoints(self):
        for path in ("/status?x=1", "/metrics?seconds=1", "/processes?x=1", "/healthz?x"):
            with self.subTest(path):
                self.assert_refused(path, 400)

    def test_long_queries(self):
        answer = self.daemon.get("/profile?seconds=" + "1" * 20000)
        self.assertEqual(answer.status, 414)
        self.assertEqual(len(answer.text.splitlines()), 1)
        self.assertEqual(answer.headers["X-Go-Pprof"], "1")
        # libmicrohttpd itself refuses requests of this length, with its own message.
        self.assertEqual(self.daemon.get("/profile?seconds=" + "1" * 65536).status, 414)
        self.assertTrue(self.daemon.alive())

    def test_a_refusal_repeats_nothing_dangerous(self):
        answer = self.assert_refused("/profile?seconds=%0d%0aSet-Cookie:%20x%1b%5b31m%ff", 400)
        self.assertFalse([c for c in answer.text[:-1] if ord(c) < 32 or ord(c) == 127], answer.text)
        self.assertIsNone(answer.headers["Set-Cookie"])

    def test_garbage_on_the_socket(self):
        rng = random.Random(1)
        whole = b"GET /profile?seconds=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        inputs = [
            b"", b"\0" * 1000, b"\r\n" * 1000, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"G" * 300000,
            b"GET " + b"/" * 300000 + b" HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50000 + b"\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ]
        inputs += [bytes(rng.randrange(256) for _ in range(rng.randrange(1, 500))) for _ in range(100)]
        inputs += [whole[:n] for n in range(0, len(whole), 3)]
        for data in inputs:
            try:
                with self.daemon.connect(5) as s:
                    s.sendall(data)
                    s.settimeout(0.05)
                    s.recv(100)
            except OSError:
                pass  # profd may close the connection, or wait for the rest
        self.assertTrue(self.daemon.alive())

    def test_pipelined_and_slow_requests(self):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with self.daemon.connect(10) as s:
            s.sendall(one * 10)
            data = b""
            while data.count(b"HTTP/1.1 200") < 10:
                more = s.recv(65536)
                self.assertTrue(more, data)
                data += more
        with self.daemon.connect(10) as s:
            for byte in one:
                s.sendall(bytes([byte]))
            self.assertTrue(s.recv(1000).startswith(b"HTTP/1.1 200"))
