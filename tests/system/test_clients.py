# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which requests are admitted: by the client's user, by host name, by the client's address, and by the origin of a web page."""

import contextlib
import grp
import json
import os
import pwd
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import daemon
from daemon import Daemon
from workload import Workload

LANE = "clients"
NOBODY = pwd.getpwnam("nobody")
ELSEWHERE = "198.51.100.7"  # an address of this host that is not on the loopback, in a separate network namespace


def curl(url, *options, through=()):
    """Returns (status, body) of a request by curl."""
    run = subprocess.run(
        [*through, "curl", "-sS", "-m", "30", "-w", "\n%{http_code}", *options, url],
        capture_output=True, encoding="utf-8", errors="replace",
    )
    body, _, status = run.stdout.rpartition("\n")
    return int(status or 0), body


def as_user(uid):
    return ("setpriv", f"--reuid={uid}", "--clear-groups")


@contextlib.contextmanager
def configured(text, *options, **more):
    """Yields a daemon with this configuration file, and a function that changes the file while the daemon runs."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:

        def write(new):
            file.seek(0)
            file.truncate()
            file.write(new)
            file.flush()

        write(text)
        with Daemon(*options, "--config", file.name, **more) as running:

            def change(new, says):
                """Reloads the configuration and waits until the log has the text `says` once more."""
                before = running.log().count(says)
                write(new)
                running.process.send_signal(signal.SIGHUP)
                end = time.monotonic() + 20
                while running.log().count(says) == before:
                    if time.monotonic() > end:
                        raise AssertionError(f"no {says!r} in {running.log()}")
                    time.sleep(0.02)

            yield running, change


class Names(unittest.TestCase):
    """The Host header, against DNS rebinding, and the headers by which browsers identify requests from other pages."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = daemon.shared()

    def status(self, host, target="/status", version="1.1", extra=""):
        with self.daemon.connect(10) as s:
            line = "" if host is None else f"Host: {host}\r\n"
            s.sendall(f"GET {target} HTTP/{version}\r\n{line}{extra}\r\n".encode())
            return int(s.recv(100).split()[1])

    def test_hosts(self):
        name = socket.gethostname()
        for host, status in (
            (f"127.0.0.1:{self.daemon.port}", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("a.localhost", 200),
            ("[::1]:9090", 200), ("192.0.2.1", 200), (name, 200), (name.split(".")[0] + ":80", 200),
            ("evil.example", 421), (f"{name}.evil.example", 421), ("localhost.evil.example:80", 421),
            ("127.0.0.1.evil.example", 421), ("", 400), (None, 400),
        ):
            with self.subTest(host):
                self.assertEqual(self.status(host), status)
        self.assertEqual(self.status(None, version="1.0"), 200)
        self.assertEqual(self.status("evil.example", version="1.0"), 421)

    def test_every_path_is_behind_it(self):
        for target in ("/", "/profile?last=10s", "/ui/app.js", "/nothing", "/healthz", "/metrics"):
            with self.subTest(target):
                self.assertEqual(self.status("evil.example", target), 421)

    def test_addresses_sent_whole(self):
        self.assertEqual(self.status("evil.example", "http://localhost/healthz"), 200)
        self.assertEqual(self.status("localhost", "http://evil.example/healthz"), 421)
        self.assertEqual(self.status("localhost", "http://localhost"), 200)

    def test_two_of_a_kind(self):
        self.assertEqual(self.status("localhost", extra="Host: evil.example\r\n"), 400)
        self.assertEqual(self.status("localhost", extra="Content-Length: 0\r\nContent-Length: 3\r\n\r\nabc"), 400)
        chunked = "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n"
        self.assertEqual(self.status("localhost", extra=chunked), 400)

    def test_a_refusal_says_what_to_do(self):
        answer = self.daemon.request("GET", "/status", headers={"Host": "evil.example"})
        self.assertEqual(answer.status, 421)
        self.assertIn("allow-host", answer.text)
        self.assertEqual(answer.headers["X-Go-Pprof"], "1")

    def test_other_pages_cannot_have_probes_put_anywhere(self):
        target = f"/heap?pid={os.getpid()}&seconds=1"
        host = f"localhost:{self.daemon.port}"
        for headers in (
            {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"},
            {"Origin": "http://evil.example"}, {"Origin": "http://localhost:3000"},
            {"Origin": f"http://{host}", "Sec-Fetch-Site": "cross-site"},
        ):
            with self.subTest(headers):
                answer = self.daemon.request("GET", target, headers={"Host": host, **headers})
                self.assertEqual(answer.status, 403, answer.text)
                self.assertIn("another web page", answer.text)
        for headers in ({}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": f"http://{host}"}):
            with self.subTest(headers):  # 404 shows that the request is admitted: no process has this ID
                answer = self.daemon.request("GET", "/heap?pid=4194000", headers={"Host": host, **headers})
                self.assertEqual(answer.status, 404, answer.text)
        self.assertEqual(self.daemon.json("/status")["heaps"]["watched"], 0)

    def test_policies_on_every_answer(self):
        targets = (
            "/profile?last=10s&format=text", "/profile?last=10s", "/profile?x=1", "/report", "/heap", "/heap?pid=4194000",
            "/processes", "/memory?pid=1", "/oom", "/timeline", "/source?file=/etc/shadow", "/status", "/metrics",
            "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline", "/nothing", "/", "/ui/nothing",
        )
        for method in ("GET", "HEAD", "POST"):
            for target in targets:
                with self.subTest(f"{method} {target}"):
                    headers = self.daemon.request(method, target, headers={"Accept": "*/*"}).headers
                    self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                    self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
                    self.assertEqual(headers["Referrer-Policy"], "no-referrer")
                    policy = headers.get_all("Content-Security-Policy")
                    self.assertEqual(policy, ["default-src 'none'; frame-ancestors 'none'"])
                    self.assertNotIn("Access-Control-Allow-Origin", headers)
        page = self.daemon.request("GET", "/", headers={"Accept": "text/html"}).headers
        self.assertEqual(len(page.get_all("Content-Security-Policy")), 1)
        self.assertIn("script-src 'self'", page["Content-Security-Policy"])

    def test_command_lines_are_shown_where_asked_for_only(self):
        secret = "s3cr3t-of-a-command-line"
        environment = {**os.environ, "TOKEN": "s3cr3t-of-an-environment"}
        with Workload("spin_two", env=environment) as spin:
            with Workload("syscalls", 60, secret, env=environment) as other:
                pids = {spin.pid, other.pid}
                self.daemon.profile("seconds=1")
                for target in (
                    "/profile?last=10s&format=folded", "/profile?last=10s&format=text", "/processes", "/status",
                    "/metrics", "/timeline", f"/memory?pid={spin.pid}", f"/memory?pid={other.pid}", "/oom",
                ):
                    with self.subTest(target):
                        self.assertNotIn("s3cr3t", self.daemon.get(target).text)
                shown = {row["pid"]: row["cmdline"] for row in self.daemon.json("/processes?cmdline=1")}
                self.assertTrue(pids <= set(shown))
                self.assertIn(secret, shown[other.pid])
                self.assertNotIn("environment", json.dumps(shown))


class InNetwork(Daemon):
    """A daemon in its own network namespace, where it has an address besides the loopback; curl asks from within."""

    def __init__(self, *options):
        script = f'ip link set lo up && ip addr add {ELSEWHERE}/32 dev lo && exec "$@"'
        own_network = ("unshare", "--net", "sh", "-c", script, "sh")
        super().__init__("--insecure", *options, listen=f"0.0.0.0:{daemon.free_port()}", through=own_network)

    def wait_ready(self, seconds=30):
        end = time.monotonic() + seconds
        while self.ask("/readyz")[0] != 200:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"profd is not ready: {self.log()}")
            time.sleep(0.05)

    def inside(self):
        return ("nsenter", "-t", str(self.process.pid), "-n")

    def ask(self, target, *options, host="127.0.0.1", through=()):
        return curl(f"http://{host}:{self.port}{target}", *options, through=(*self.inside(), *through))


class Users(unittest.TestCase):
    def test_a_group(self):
        group = grp.getgrgid(NOBODY.pw_gid).gr_name
        stranger = as_user(NOBODY.pw_uid)
        with configured("", "--insecure", listen=f":{daemon.free_port()}") as (profd, change):
            urls = [f"http://{host}:{profd.port}/healthz" for host in ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]")]
            for url in urls:
                self.assertEqual(curl(url, through=stranger), (200, "ok\n"), url)
            # All users were answered before. Now only root is, because the members of the group are not known.
            change("group = no-such-group\n", "there is no such group; profd serves root only")
            self.assertEqual(curl(urls[0], through=stranger)[0], 403)
            self.assertEqual(curl(urls[0]), (200, "ok\n"))
            change("group = root\n", "in the group root")
            for url in urls:
                status, body = curl(url, through=stranger)
                self.assertEqual(status, 403, url)
                self.assertIn(f"user {NOBODY.pw_uid} is not admitted", body)
                self.assertIn("group root", body)
                self.assertEqual(curl(url), (200, "ok\n"), url)
            change("group = no-such-group\n", "there is no such group")
            self.assertEqual(curl(urls[0], through=stranger)[0], 403)
            change(f"group = {group}\n", f"in the group {group}")
            for url in urls:
                self.assertEqual(curl(url, through=stranger), (200, "ok\n"), url)
            change("", "group is not set now")
            self.assertEqual(curl(urls[0], through=stranger), (200, "ok\n"))
            self.assertGreaterEqual(profd.metrics()["profd_http_refused_group_total"], 4)

    def test_by_another_address_of_this_host(self):
        with InNetwork("--group", "root") as profd:
            self.assertEqual(profd.ask("/healthz", host=ELSEWHERE), (200, "ok\n"))
            for host in (ELSEWHERE, "127.0.0.1"):
                for options in ((), ("--interface", "if!lo")):  # this option binds the socket to the device
                    with self.subTest(host=host, options=options):
                        status, body = profd.ask("/healthz", *options, host=host, through=as_user(NOBODY.pw_uid))
                        self.assertEqual(status, 403)
                        self.assertIn(f"user {NOBODY.pw_uid} is not admitted", body)
                        self.assertEqual(profd.ask("/healthz", *options, host=host), (200, "ok\n"))

    def test_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = f"{folder}/socket"
            with Daemon("--group", "root", listen=f"unix:{path}") as profd:
                os.chmod(path, 0o666)
                self.assertEqual(curl("http://evil.example/healthz", "--unix-socket", path), (200, "ok\n"))
                stranger = as_user(NOBODY.pw_uid)
                status, body = curl("http://x/healthz", "--unix-socket", path, through=stranger)
                self.assertEqual(status, 403, body)
                self.assertTrue(profd.alive())

    def test_no_such_group_at_the_start(self):
        with self.assertRaisesRegex(AssertionError, "the members of the group nowhere: there is no such group"):
            Daemon("--group", "nowhere").stop()
        for command in (("serve",), ("config", "check"), ("doctor",)):
            argv = [daemon.PROFD, *command, "--config", "/dev/null", "--group", "nowhere"]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (78, 1), done.stderr)


class Elsewhere(unittest.TestCase):
    """What a client without credentials on another host may request."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = InNetwork("--max-client-requests", "2")
        cls.addClassCleanup(cls.daemon.stop)

    def ask(self, target, *options):
        return self.daemon.ask(target, *options, host=ELSEWHERE)

    def test_profiles_but_no_probes(self):
        self.assertEqual(self.ask("/profile?last=10s&format=text")[0], 200)
        self.assertEqual(self.ask("/processes")[0], 200)
        for target in (f"/heap?pid={os.getpid()}&seconds=1", "/processes?cmdline=1"):
            with self.subTest(target):
                status, body = self.ask(target)
                self.assertEqual(status, 403, body)
                self.assertIn("only for clients on this host and clients with credentials", body)
                self.assertNotEqual(self.daemon.ask(target)[0], 403)

    def test_one_client_has_so_many_requests(self):
        url = f"http://{ELSEWHERE}:{self.daemon.port}/profile?seconds=600"
        slow = [subprocess.Popen([*self.daemon.inside(), "curl", "-s", "-o", "/dev/null", url]) for _ in range(2)]
        try:
            end = time.monotonic() + 20
            while json.loads(self.daemon.ask("/status")[1])["http"]["under_way"] < 2:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            status, body = self.ask("/profile?last=10s", "-i")
            self.assertEqual(status, 429, body)
            self.assertIn("Retry-After: 1", body)
            self.assertIn("at most 2 at a time", body)
            self.assertEqual(self.ask("/healthz")[0], 200)
            self.assertEqual(self.daemon.ask("/profile?last=10s")[0], 200, "another client")
        finally:
            for process in slow:
                process.kill()
                process.wait()


class Settings(unittest.TestCase):
    def test_hosts_and_probes_and_lengths(self):
        with configured("allow-host = a.example b.example\n") as (profd, change), Workload("spin_two") as spin:
            host = {"Host": "b.example:9090"}
            heap = f"/heap?pid={spin.pid}&seconds=1"
            self.assertEqual(profd.request("GET", "/healthz", headers=host).status, 200)
            self.assertNotEqual(profd.get(heap).status, 403)
            change("on-demand = no\nmax-seconds = 2\nmax-requests = 1\n", "max-requests is 1 now")
            self.assertEqual(profd.request("GET", "/healthz", headers=host).status, 421)
            answer = profd.get(heap)
            self.assertEqual(answer.status, 403)
            self.assertIn("on-demand", answer.text)
            answer = profd.get("/profile?seconds=3")
            self.assertEqual(answer.status, 400)
            self.assertIn("from 1 to 2", answer.text)
            with profd.connect() as s:  # without seconds= a profile is as long as max-seconds allows
                s.sendall(b"GET /profile HTTP/1.1\r\nHost: localhost\r\n\r\n")
                end = time.monotonic() + 20
                while profd.json("/status")["parked_requests"] < 1:
                    self.assertLess(time.monotonic(), end)
                answer = profd.get("/profile?last=10s")
                self.assertEqual(answer.status, 503)
                self.assertEqual(answer.headers["Retry-After"], "1")
                self.assertEqual(profd.get("/healthz").status, 200)
                self.assertTrue(s.recv(100).startswith(b"HTTP/1.1 200"))
            self.assertEqual(profd.metrics()["profd_http_refused_full_total"], 1)


class Gone(unittest.TestCase):
    """Clients that ask and hang up."""

    def test_nothing_is_kept_for_them(self):
        with Daemon() as server:
            time.sleep(3)
            now = time.time()
            request = f"GET /profile?from={now - 2:.3f}&to={now - 1:.3f} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()

            def ask(count):
                asked = [server.connect() for _ in range(count)]
                for client in asked:
                    client.sendall(request)
                return asked

            def leave(clients):
                for client in clients:
                    client.close()

            for _ in range(5):
                leave(ask(100))
            before = server.rss_kib()
            for _ in range(20):
                leave(ask(100))
            stay = ask(50)
            leave(stay[::2])
            # One of the 50 is rendered, for those that stay.
            answers = [client.recv(12) for client in stay[1::2]]
            leave(stay)
            self.assertEqual(answers, 25 * [b"HTTP/1.1 200"])
            self.assertLess(server.rss_kib() - before, 8 * 1024)
            self.assertEqual(server.metrics()["profd_render_jobs"], 0)
