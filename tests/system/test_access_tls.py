# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TLS: the readers' tools over it, client certificates, renewal, requests in flight, and clients that do not speak TLS."""

import contextlib
import gzip
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import unittest

from guarded import TLS, USERS, Folder, Guarded, basic
from heap_runs import until
from pprof import pprof

LANE = "clients"


def setUpModule():
    global folder
    folder = Folder()


def tearDownModule():
    folder.remove()


def reload(server):
    read = server.log().count("is read again")
    os.kill(server.pid, signal.SIGHUP)
    if not until(lambda: server.log().count("is read again") > read):
        raise AssertionError(server.log())


class Encrypted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder.write(TLS + USERS)
        cls.server = Guarded(folder, context=folder.context())

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def curl(self, *words):
        return subprocess.run(["curl", "-sS", "--cacert", folder.file("ca.pem"), *words], capture_output=True, timeout=60, check=False)

    def test_curl(self):
        url = f"https://localhost:{self.server.port}"
        done = self.curl("-u", "alice:secret", f"{url}/profile?seconds=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(gzip.decompress(done.stdout)), 0)
        done = self.curl("-u", "alice:wrong", "-w", "%{http_code}", f"{url}/profile?seconds=1")
        self.assertEqual(done.stdout, b"wrong user or password\n401")

    def test_go_tool_pprof(self):
        # go tool pprof has no option for a certificate authority.
        url = f"https+insecure://alice:secret@127.0.0.1:{self.server.port}/profile?seconds=1"
        self.assertIn("Type: cpu", pprof("-top", url))
        with self.assertRaisesRegex(AssertionError, "wrong user or password"):
            pprof("-top", url.replace("secret", "guess"))

    def test_each_version(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.subTest(version=version), self.server.connect(context=folder.context(newest=version)) as s:
                self.assertEqual(s.version().replace(".", "_"), version.name)
                s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertTrue(s.recv(1000).startswith(b"HTTP/1.1 200"))
        done = subprocess.run(["openssl", "s_client", "-tls1_1", "-connect", f"127.0.0.1:{self.server.port}"],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_an_answer_in_many_records(self):
        """A slow reader gets the whole answer: the socket is full again and again while profd writes it."""
        for target in ("/profile?last=1m&format=perfetto", "/metrics"):
            whole = self.server.get(target)
            self.assertEqual(whole.status, 200)
            with self.server.connect() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                authorization = self.server.headers["Authorization"]
                s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {authorization}\r\n\r\n".encode())
                response = http.client.HTTPResponse(s)
                response.begin()
                length, read = int(response.headers["Content-Length"]), 0
                while more := response.read(1000):
                    read += len(more)
                self.assertEqual(read, length)

    def test_pipelined_requests(self):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with self.server.connect(10) as s:
            s.sendall(one * 10)
            data = b""
            while data.count(b"HTTP/1.1 200") < 10:
                more = s.recv(65536)
                self.assertTrue(more, data)
                data += more

    def test_a_request_after_a_parked_one(self):
        """A request that arrives while another one is in flight on the connection is answered after it."""
        header = f"Host: localhost\r\nAuthorization: {self.server.headers['Authorization']}\r\n\r\n"
        with self.server.connect(60) as s:
            s.sendall(f"GET /profile?seconds=1&format=folded HTTP/1.1\r\n{header}".encode())
            self.assertTrue(until(lambda: self.server.metrics()["profd_parked_requests"] == 1))
            s.sendall(f"GET /healthz HTTP/1.1\r\n{header}".encode())
            data = b""
            while not data.endswith(b"\r\n\r\nok\n"):
                more = s.recv(65536)
                self.assertTrue(more, data[-200:])
                data += more
        self.assertEqual(data.count(b"HTTP/1.1 200"), 2)

    def test_who_hangs_up_is_not_waited_for(self):
        authorization = self.server.headers["Authorization"]
        sockets = [self.server.connect() for _ in range(4)]
        for s in sockets:
            s.sendall(f"GET /profile?seconds=600 HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n".encode())
        self.assertTrue(until(lambda: self.server.metrics()["profd_parked_requests"] == 4))
        with contextlib.suppress(OSError):
            # The first client sends a close_notify; the others just close.
            sockets[0].settimeout(0)
            sockets[0].unwrap()
        for s in sockets:
            s.close()
        self.assertTrue(until(lambda: self.server.metrics()["profd_parked_requests"] == 0))

    def test_who_does_not_speak_it(self):
        for data in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 1000, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 600,
                     b"\x16\x03\x01\xff\xff", b"\x80\x2e\x01\x00\x02" + b"y" * 40):
            with self.subTest(data=data[:20]), socket.create_connection(("127.0.0.1", self.server.port), 10) as s:
                s.sendall(data)
                answer = b""
                # profd may have closed the connection already.
                with contextlib.suppress(OSError):
                    s.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionError):
                    while more := s.recv(1000):
                        answer += more
                # The answer is at most a TLS alert, never HTTP.
                self.assertNotIn(b"HTTP", answer)
        self.assertTrue(self.server.alive())

    def test_handshakes_that_are_not_finished_hold_nobody_up(self):
        half = [socket.create_connection(("127.0.0.1", self.server.port), 10) for _ in range(100)]
        for s in half:
            s.sendall(b"\x16\x03\x01\x02\x00\x01")
        self.assertEqual(self.server.get("/readyz").status, 200)
        for s in half:
            s.close()
        self.assertEqual(self.server.get("/readyz").status, 200)


class ClientCertificates(unittest.TestCase):
    """One daemon, whose client_auth_type changes from case to case."""

    @classmethod
    def setUpClass(cls):
        folder.write(TLS)
        cls.server = Guarded(folder, context=folder.context("client"), user=None)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def status(self, client, version):
        """Returns the HTTP status, or None where the connection fails."""
        self.server.context = folder.context(client, version)
        with contextlib.suppress(ssl.SSLError, ConnectionError, http.client.HTTPException):
            return self.server.get("/metrics").status
        return None

    def test_each_type(self):
        ca = "  client_ca_file: ca.pem\n  client_auth_type: "
        verify = ca + "RequireAndVerifyClientCert\n  client_allowed_sans: "
        for text, statuses in (
                ("  client_auth_type: NoClientCert\n", (200, 200, 200)),
                ("  client_auth_type: RequestClientCert\n", (200, 200, 200)),
                ("  client_auth_type: RequireAnyClientCert\n", (200, 200, None)),
                (ca + "VerifyClientCertIfGiven\n", (200, None, 200)),
                (ca + "RequireAndVerifyClientCert\n", (200, None, None)),
                (verify + "[x, scraper.example]\n", (200, None, None)),
                (verify + "['::1']\n", (200, None, None)),
                (verify + "[other.example, client]\n", (None, None, None))):
            folder.write(TLS + text)
            reload(self.server)
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                with self.subTest(text=text, version=version):
                    self.assertEqual(tuple(self.status(client, version) for client in ("client", "stranger", None)), statuses)

    def test_a_certificate_for_servers_is_none_for_clients(self):
        folder.write(TLS + "  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n")
        reload(self.server)
        self.assertIsNone(self.status("server", ssl.TLSVersion.TLSv1_3))

    def test_both_are_asked_for(self):
        folder.write(TLS + "  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n" + USERS)
        reload(self.server)
        self.assertEqual(self.status("client", None), 401)
        self.assertEqual(self.server.request("GET", "/metrics", headers=basic("alice", "secret")).status, 200)


class Versions(unittest.TestCase):
    def test_what_is_spoken(self):
        new, old = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2
        folder.write(TLS)
        with Guarded(folder, context=folder.context(), user=None) as server:
            for text, newest, spoken in (
                    ("  max_version: TLS12\n", new, ("TLSv1.2", None)), ("  min_version: TLS13\n", new, ("TLSv1.3", None)),
                    ("  min_version: TLS13\n", old, None),
                    ("  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n", old, ("TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384")),
                    ("  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n", new, ("TLSv1.3", "TLS_AES_256_GCM_SHA384")),
                    ("  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA]\n", old, ("TLSv1.2", "ECDHE-ECDSA-AES256-SHA")),
                    ("  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\n", old, None),
                    ("  curve_preferences: [CurveP521]\n", new, ("TLSv1.3", None))):
                folder.write(TLS + text)
                reload(server)
                with self.subTest(text=text, newest=newest):
                    if not spoken:
                        with self.assertRaises((ssl.SSLError, ConnectionError)):
                            server.connect(context=folder.context(newest=newest))
                        continue
                    context = folder.context(newest=newest)
                    # Python's default leaves out old cipher suites, which these tests need.
                    context.set_ciphers("DEFAULT")
                    with server.connect(context=context) as s:
                        self.assertEqual((s.version(), s.cipher()[0] if spoken[1] else None), spoken)


class Renewal(unittest.TestCase):
    def serial(self, s):
        return s.getpeercert()["serialNumber"]

    def test_a_renewed_certificate_is_shown(self):
        folder.write(TLS + USERS)
        with Guarded(folder, context=folder.context()) as server:
            held = http.client.HTTPConnection("profd")
            held.sock = first = server.connect()
            held.request("GET", "/profile?last=1s", headers=server.headers)
            held.getresponse().read()
            old = self.serial(first)
            # A certificate without its key is a mistake that renewal scripts make.
            shutil.copy(folder.file("client.pem"), folder.file("server.pem"))
            os.kill(server.pid, signal.SIGHUP)
            self.assertTrue(until(lambda: "the key does not match the certificate" in server.log()), server.log())
            with server.connect() as s:
                self.assertEqual(self.serial(s), old)
            folder.certify("server", "ca", "DNS:localhost,IP:127.0.0.1", "serverAuth")
            reload(server)
            with server.connect() as s:
                self.assertNotEqual(self.serial(s), old)
            held.request("GET", "/metrics", headers=server.headers)
            answer = held.getresponse()
            answer.read()
            self.assertEqual(answer.status, 200)
            self.assertIs(held.sock, first)
            held.close()

    def test_a_client_whose_ca_is_gone_goes_too(self):
        verified = TLS + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: "
        folder.write(verified + "ca.pem\n")
        with Guarded(folder, context=folder.context("client"), user=None) as server:
            held = http.client.HTTPConnection("profd")
            held.sock = server.connect()
            for ca, status in (("ca.pem", 200), ("foreign.pem", 403), ("ca.pem", 200)):
                folder.write(verified + ca + "\n")
                reload(server)
                held.request("GET", "/metrics")
                answer = held.getresponse()
                answer.read()
                self.assertEqual(answer.status, status)
            held.close()


if __name__ == "__main__":
    unittest.main()
