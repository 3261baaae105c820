# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The answer to HEAD never has a byte of a body, so the next answer on the connection is that of the next request."""

import os
import unittest

import daemon

LANE = "clients"
NEXT = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
OWN = os.getpid()

TARGETS = (
    "/", "/profile", "/profile?seconds=5", "/profile?last=1s&format=folded", "/debug/pprof/profile", "/pprof/profile",
    f"/heap?pid={OWN}&seconds=3", "/processes", "/processes?cmdline=1&format=text", f"/memory?pid={OWN}", "/gpu",
    "/gpu?format=text", "/oom", "/timeline", "/source?file=/nowhere", "/status", "/metrics", "/healthz", "/readyz",
    "/debug/pprof/", "/debug/pprof/cmdline", "/ui/app.js",
    # Refused requests.
    "/nothing", "/profile?nonsense=1", "/profile?seconds=5&seconds=6", "/profile?pid=4194000", "/report?last=1s", "/report?x=1", "/heap",
    "/heap?pid=4194000", "/memory?pid=4194000", "/oom?id=7", "/processes?format=xml", "/ui/nothing", "/?" + "x" * 20000,
)

HEADERS = ("", "Accept: text/html\r\n", "If-None-Match: *\r\n", "Content-Length: 0\r\nContent-Length: 0\r\n", "Host: evil.example\r\n",
           "X: " + "y" * 40000 + "\r\n")


class Head(unittest.TestCase):
    def answers(self, target, headers):
        """Sends HEAD and then another request; returns (the head of the answer, everything that follows)."""
        host = "" if headers.startswith("Host") else "Host: localhost\r\n"
        with daemon.shared().connect(20) as s:
            s.sendall(f"HEAD {target} HTTP/1.1\r\n{host}{headers}\r\n".encode())
            data = b""
            while b"\r\n\r\n" not in data:
                more = s.recv(65536)
                self.assertTrue(more, f"hung up after {data!r}")
                data += more
            # Excess bytes of the first answer would come before the second answer.
            try:
                s.sendall(NEXT)
                while b"\r\n\r\nok\n" not in data:
                    more = s.recv(65536)
                    if not more:
                        break
                    data += more
            except ConnectionError:
                pass  # profd closed the connection, as "Connection: close" announced
        head, _, rest = data.partition(b"\r\n\r\n")
        return head.decode(), rest

    def assert_in_sync(self, target, headers=""):
        with self.subTest(target=target[:40], headers=headers[:40]):
            head, rest = self.answers(target, headers)
            self.assertTrue(head.startswith("HTTP/1.1 "), head)
            self.assertNotIn("Transfer-Encoding", head)
            if "\r\nConnection: close" in head:
                self.assertEqual(rest, b"")
            else:
                self.assertIn("\r\nContent-Length: ", head)
                self.assertTrue(rest.startswith(b"HTTP/1.1 200 OK\r\n") and rest.endswith(b"\r\n\r\nok\n"), rest[:100])

    def test_every_target(self):
        for target in TARGETS:
            self.assert_in_sync(target)

    def test_every_kind_of_refusal(self):
        for target in ("/", "/healthz", "/profile?seconds=1", "/ui/app.js"):
            for headers in HEADERS:
                self.assert_in_sync(target, headers)
