# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Access: users and their passwords, the rule for addresses that other hosts reach, and reading the rules again."""

import http.client
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

from daemon import PROFD, Daemon, free_port
from guarded import OTHER, SECRET, SLOW, SLOWER, TLS, USERS, Folder, Guarded, basic
from heap_runs import until
from test_client_shares import running
from test_clients import as_user, curl
from test_handed_sockets import launcher

LANE = "clients"
CONFIG = 78  # of sysexits.h
CLIENTS = "  client_ca_file: ca.pem\n  client_auth_type: "


def setUpModule():
    global folder
    folder = Folder()


def tearDownModule():
    folder.remove()


def profd(*words):
    environment = {name: value for name, value in os.environ.items() if name != "JOURNAL_STREAM"}
    return subprocess.run([PROFD, *words], capture_output=True, text=True, timeout=60, check=False, env=environment)


class Users(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder.write(USERS + f"  bob: {SLOW}\nhttp_server_config:\n  headers:\n    X-Frame-Options: deny\n")
        cls.socket = os.path.join(folder.path, "profd.sock")
        cls.server = Guarded(folder, "--listen", f"unix:{cls.socket}")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_who_is_let_in(self):
        for headers, status in ((basic("alice", "secret"), 200), (basic("bob", "slow"), 200), (basic("alice", "slow"), 401),
                                (basic("bob", "secret"), 401), (basic("carol", "secret"), 401), (basic("", ""), 401),
                                (basic("alice", ""), 401), (basic("alice", "secret" * 500), 401), ({}, 401),
                                ({"Authorization": "Basic"}, 401), ({"Authorization": "Basic !!!"}, 401),
                                ({"Authorization": "Bearer secret"}, 401)):
            for target in ("/metrics", "/profile?last=1s", "/", "/nothing"):
                with self.subTest(headers=headers, target=target):
                    answer = self.server.request("GET", target, headers=headers)
                    self.assertEqual(answer.status, 404 if status == 200 and target == "/nothing" else status, answer.body[:99])
                    self.assertEqual(answer.headers["X-Frame-Options"], "deny")
                    if status == 401:
                        self.assertRegex(answer.headers["WWW-Authenticate"], '^Basic realm="profd"')
                        self.assertEqual((answer.text.count("\n"), answer.headers["X-Go-Pprof"]), (1, "1"))

    def test_healthz_is_open_and_nothing_else(self):
        self.assertEqual(self.server.request("GET", "/healthz", headers={}).status, 200)
        for target in ("/healthz/", "//healthz", "/readyz", "/ui/main.js", "/%68ealthz"):
            with self.subTest(target):
                self.assertEqual(self.server.request("GET", target, headers={}).status, 401)

    def test_other_methods(self):
        for method, status in (("HEAD", 200), ("POST", 405), ("OPTIONS", 405)):
            with self.subTest(method):
                self.assertEqual(self.server.request(method, "/metrics").status, status)
                self.assertEqual(self.server.request(method, "/metrics", headers={}).status, 401)

    def test_a_unix_socket_needs_no_user(self):
        class Unix(http.client.HTTPConnection):
            def connect(self):
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.connect(Users.socket)

        connection = Unix("profd")
        connection.request("GET", "/metrics")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def test_what_is_known_is_not_hashed_again(self):
        self.server.get("/metrics")
        before = self.server.metrics()
        for _ in range(20):
            self.assertEqual(self.server.get("/readyz").status, 200)
        after = self.server.metrics()
        self.assertEqual(before["profd_access_passwords_checked_total"], after["profd_access_passwords_checked_total"])

    def test_wrong_passwords_delay_nobody_who_needs_none(self):
        answers = []

        def guess(number):
            answers.append(self.server.request("GET", "/metrics", headers=basic("bob", f"guess {number}")).status)

        guesses = [threading.Thread(target=guess, args=(number,)) for number in range(50)]
        for thread in guesses:
            thread.start()
        slowest, asked = 0, 0
        while any(thread.is_alive() for thread in guesses):
            slowest = max(slowest, self.server.request("GET", "/healthz", headers={}).seconds)
            slowest = max(slowest, self.server.get("/readyz").seconds)
            asked += 1
        for thread in guesses:
            thread.join()
        self.assertEqual(answers, [401] * 50)
        self.assertGreater(asked, 3)
        self.assertLess(slowest, 1)

    def test_an_unknown_user_takes_as_long(self):
        """A password of an unknown user takes as long as bob's, not as short as alice's, whose hash is sixteen times as fast."""
        def seconds(user):
            return sorted(self.server.request("GET", "/readyz", headers=basic(user, f"{user} {n}")).seconds for n in range(7))[3]

        wrong, unknown = seconds("bob"), seconds("nobody")
        self.assertGreater(unknown, wrong / 4)
        self.assertLess(unknown, wrong * 4)

    def test_who_hangs_up_is_not_waited_for(self):
        sockets = [self.server.connect() for _ in range(5)]
        for number, s in enumerate(sockets):
            header = basic("bob", f"gone {number}")["Authorization"]
            s.sendall(f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: {header}\r\n\r\n".encode())
            s.close()
        self.assertTrue(until(lambda: self.server.metrics()["profd_parked_requests"] == 0))
        self.assertTrue(self.server.alive())


# Sends as many wrong passwords as its argument says, all at once. Prints how many of them are refused without a check, and
# the message of the last refusal.
GUESSER = """
import base64, select, socket
become()
made = []
for number in range(int(sys.argv[3])):
    guess = base64.b64encode(f"carol:guess {number}".encode()).decode()
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)
    s.sendall(f"GET /metrics HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Basic {guess}\\r\\n\\r\\n".encode())
    made.append(s)
select.select(made[-1:], [], [], 10)
answers = [s.recv(4096).decode() for s in select.select(made, [], [], 0)[0]]
refused = [answer for answer in answers if answer.startswith("HTTP/1.1 503")]
print(len(refused), refused[-1].splitlines()[-1], flush=True)
sys.stdin.read()
"""


class Guesses(unittest.TestCase):
    def test_who_guesses_keeps_nobody_else_out(self):
        folder.write(USERS + f"  carol: {SLOWER}\n")
        server = Guarded(folder)
        self.addCleanup(server.stop)
        with running(GUESSER, "127.0.0.1", server.port, 100) as said:
            # The user's share is 28 of 64; a few more passwords are checked meanwhile.
            refused, why = said.split(" ", 1)
            self.assertGreater(int(refused), 50)
            self.assertIn("its share of password checks", why)
            # This client is not in the cache of checked passwords; it waits for the password being checked, not for 28.
            self.assertEqual(curl(f"{server.url}/readyz", "-u", "carol:slower", through=as_user(54321))[0], 200)
            self.assertLess(server.metrics()["profd_access_passwords_checked_total"], 15)


class Limited(Guarded):
    READY = "/healthz"  # the rate limit does not count /healthz


class Rate(unittest.TestCase):
    def test_more_than_the_rate_is_refused(self):
        folder.write("rate_limit:\n  interval: 1h\n  burst: 3\n")
        with Limited(folder, user=None) as server:
            statuses = [server.get("/readyz").status for _ in range(6)]
            self.assertEqual(statuses[-3:], [429, 429, 429])
            self.assertEqual(server.get("/healthz").status, 200)
            # Intervals borrowed at the old rate do not count at the new one.
            folder.write("rate_limit:\n  interval: 1ms\n  burst: 1000\n")
            os.kill(server.pid, signal.SIGHUP)
            self.assertTrue(until(lambda: "is read again" in server.log()), server.log())
            self.assertEqual(server.get("/status").status, 200)


class Gate(unittest.TestCase):
    def test_what_is_refused(self):
        for listen, text, says in (
                (":0", None, "access without credentials"), ("0.0.0.0:0", None, "--insecure, is required"),
                ("[::]:0", TLS, "access without credentials"), ("0.0.0.0:0", USERS, "in the clear"),
                (":0", TLS + CLIENTS + "VerifyClientCertIfGiven\n", "access without credentials"),
                ("192.0.2.1:1", None, "listen on 192.0.2.1:1")):
            for command in (("serve",), ("config", "check")):
                with self.subTest(listen=listen, text=text, command=command):
                    folder.write(text or "")
                    options = ("--web-config", folder.web) if text else ()
                    done = profd(*command, "--config", "/dev/null", "--listen", "127.0.0.1:0", "--listen", listen, *options)
                    self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (CONFIG, "", 1), done.stderr)
                    self.assertIn(says, done.stderr)

    def test_what_is_accepted(self):
        for listen, text, options in (
                (":1", None, ("--insecure",)), (":1", USERS, ("--insecure",)), (":1", TLS + USERS, ()),
                (":1", TLS + CLIENTS + "RequireAndVerifyClientCert\n", ()), ("127.8.9.1:1", None, ()), ("[::1]:1", USERS, ()),
                ("[::ffff:127.0.0.1]:1", None, ()), ("unix:/nowhere/sock", None, ())):
            with self.subTest(listen=listen, text=text):
                folder.write(text or "")
                web = ("--web-config", folder.web) if text else ()
                done = profd("config", "check", "--config", "/dev/null", "--listen", listen, *options, *web)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_insecure_lets_everybody_in(self):
        port = free_port()
        with Daemon("--listen", f"0.0.0.0:{port}", "--insecure") as server:
            self.assertEqual(server.get("/metrics").status, 200)
            self.assertIn(f"0.0.0.0:{port}", server.log())


class Files(unittest.TestCase):
    """profd accepts what promtool accepts and refuses what it refuses, except for features that profd does not have."""

    def check(self, text):
        folder.write(text)
        ours = profd("config", "check", "--config", "/dev/null", "--web-config", folder.web)
        theirs = subprocess.run(["promtool", "check", "web-config", folder.web], capture_output=True, text=True,
                                timeout=60, check=False, cwd=folder.path)
        return ours, theirs

    def test_like_promtool(self):
        for text in ("", "# nothing\n", "basic_auth_users:\n", TLS, TLS + USERS, TLS + CLIENTS + "RequireAndVerifyClientCert\n",
                     TLS + "  min_version: TLS13\n", TLS + "  curve_preferences: [X25519, CurveP256]\n",
                     TLS + "  cipher_suites:\n  - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256\n",
                     TLS + "  prefer_server_cipher_suites: false\n", "http_server_config:\n  http2: false\n",
                     "http_server_config:\n  headers:\n    Strict-Transport-Security: max-age=1\n",
                     f"basic_auth_users: {{a: {SECRET}, 'b c': {OTHER}}}\n",
                     # Both refuse the following.
                     "nonsense\n", "a: 1\n", "tls_server_config:\n  cert_file: server.pem\n", TLS + "  nonsense: 1\n",
                     "tls_server_config:\n  cert_file: nowhere.pem\n  key_file: server.key\n",
                     "tls_server_config:\n  cert_file: client.pem\n  key_file: server.key\n",
                     "tls_server_config:\n  cert_file: server.key\n  key_file: server.key\n",
                     TLS + "  min_version: TLS09\n", TLS + "  client_auth_type: Always\n", TLS + "  client_ca_file: ca.pem\n",
                     TLS + "  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n", TLS + "  curve_preferences: [P1]\n",
                     "http_server_config:\n  headers:\n    X-Powered-By: x\n",
                     "http_server_config:\n  headers:\n    X-Frame-Options: never\n",
                     "basic_auth_users:\n  a: plain\n", USERS + USERS, f"basic_auth_users:\n  a: {SECRET}\n  a: {OTHER}\n"):
            with self.subTest(text=text):
                ours, theirs = self.check(text)
                self.assertEqual((ours.returncode == 0), (theirs.returncode == 0), ours.stderr + theirs.stderr)
                if ours.returncode:
                    self.assertEqual(ours.returncode, CONFIG)
                    self.assertRegex(ours.stderr, r"^profd: error: .*web\.yml:\d+: .+\n$")

    def test_what_cannot_be_done_here_is_said(self):
        for text, line in ((TLS + "  min_version: TLS11\n", 4), ("http_server_config:\n  http2: true\n", 2),
                           (TLS + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
                            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]\n", 4),
                           (TLS + "  client_auth_type: VerifyClientCertIfGiven\n", 4)):
            with self.subTest(text=text):
                ours, _ = self.check(text)
                self.assertEqual(ours.returncode, CONFIG)
                self.assertRegex(ours.stderr, rf"web\.yml:{line}: ")

    def test_no_secret_is_shown(self):
        folder.write("basic_auth_users:\n  alice: hunter2\n")
        done = profd("config", "check", "--web-config", folder.web)
        self.assertNotIn("hunter2", done.stdout + done.stderr)
        folder.write(TLS + USERS)
        shown = profd("config", "show", "--config", "/dev/null", "--web-config", folder.web).stdout
        self.assertIn(f"\nweb-config = {folder.web}\n", shown)
        self.assertNotIn("$2b$", shown)
        self.assertNotIn("server.key", shown)


class Reload(unittest.TestCase):
    def log_says(self, server, what, times=1):
        self.assertTrue(until(lambda: server.log().count(what) >= times), server.log())

    def test_users_and_headers(self):
        folder.write(f"basic_auth_users:\n  alice: {SECRET}\n  bob: {OTHER}\n")
        with Guarded(folder) as server:
            begun = time.monotonic()
            held = http.client.HTTPConnection("profd")
            held.sock = server.connect()

            def ask(user, password):
                held.request("GET", "/readyz", headers=basic(user, password))
                answer = held.getresponse()
                answer.read()
                return answer

            self.assertEqual(ask("bob", "other").status, 200)
            first = held.sock
            # A file with an error changes nothing, and neither does a change that needs a restart.
            for times, text in enumerate((f"basic_auth_users:\n  alice: {SECRET}\n  carol: {OTHER}x\n", TLS + USERS), 1):
                folder.write(text)
                os.kill(server.pid, signal.SIGHUP)
                self.log_says(server, "profd keeps its rules of access", times)
                self.assertEqual(ask("bob", "other").status, 200)
            folder.write(f"basic_auth_users:\n  alice: {SECRET}\n  carol: {OTHER}\n"
                         "http_server_config:\n  headers:\n    X-XSS-Protection: '1'\n")
            self.assertEqual(ask("bob", "other").status, 200)
            os.kill(server.pid, signal.SIGHUP)
            self.log_says(server, "is read again")
            self.assertEqual(ask("bob", "other").status, 401)
            answer = ask("carol", "other")
            self.assertEqual((answer.status, answer.headers["X-XSS-Protection"]), (200, "1"))
            self.assertIs(held.sock, first)
            held.close()
            # The reload keeps the history.
            age = time.monotonic() - begun
            self.assertGreater(server.profile("last=10m").duration_ns, age * 1e9 / 2)

    def test_the_last_guard_stays(self):
        folder.write(TLS + USERS)
        with Guarded(folder, "--listen", ":0", context=folder.context()) as server:
            for text in (TLS, "", USERS):
                folder.write(text)
                before = server.log().count("keeps its rules")
                os.kill(server.pid, signal.SIGHUP)
                self.log_says(server, "keeps its rules", before + 1)
                self.assertEqual(server.request("GET", "/metrics", headers={}).status, 401)
                self.assertEqual(server.get("/metrics").status, 200)

    def test_the_guard_of_a_socket_handed_over(self):
        folder.write(TLS + USERS)
        port = free_port()
        with Guarded(folder, context=folder.context(), listen=f"127.0.0.1:{port}", through=launcher(f"any={port}")) as server:
            server.port = port
            folder.write(TLS)
            os.kill(server.pid, signal.SIGHUP)
            self.log_says(server, "keeps its rules")
            self.assertEqual(server.request("GET", "/metrics", headers={}).status, 401)


if __name__ == "__main__":
    unittest.main()
