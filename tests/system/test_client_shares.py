# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The bounds of one client's connections and of the time for a request; the rest stays available to other clients."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import Daemon
from test_clients import NOBODY, as_user, curl

LANE = "shares"
SHARE = 40

# Imports what the program needs before it changes its user: other users may not be able to read the interpreter's files.
BECOME = """
import encodings.idna, os, sys
def become():
    uid = int(sys.argv.pop())
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
"""

# Opens as many connections as its argument says, prints how many are still open a second later, and holds them until its
# input ends. It is a separate process, because a connection belongs to the user who made it.
HOLDER = """
import select, socket, time
become()
made = [socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) for _ in range(int(sys.argv[3]))]
time.sleep(1)
poll = select.poll()
for s in made:
    poll.register(s, select.POLLIN)
print(len(made) - len(poll.poll(0)), flush=True)
sys.stdin.read()
"""

# The same, with each connection from its own address, by sockets that are bound to a device.
BOUND_HOLDER = HOLDER.replace("import select, socket, time", """
import select, socket, time

def connect(number):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
    s.bind((f"127.7.{number // 250}.{number % 250 + 1}", 0))
    s.settimeout(10)
    s.connect((sys.argv[1], int(sys.argv[2])))
    return s
""").replace("socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) for _", "connect(number) for number")

# Sends as many requests for a profile of the next minute as its argument says, prints how many were refused, and then
# waits as above.
ASKER = """
import select, socket
become()
made = [socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) for _ in range(int(sys.argv[3]))]
for s in made:
    s.sendall(b"GET /profile?seconds=60 HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
refused, quiet = 0, 0
while select.select(made, [], [], 2)[0]:
    for s in select.select(made, [], [], 0)[0]:
        refused += s.recv(4096).startswith(b"HTTP/1.1 503")
        made.remove(s)
print(refused, flush=True)
sys.stdin.read()
"""

# Opens a connection for each target, and says so. Sends the requests when it gets a line, and says so. Prints when each of the
# answers began.
RACER = """
import select, socket, sys, time
become()
made = [socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) for _ in sys.argv[3:]]
print("ready", flush=True)
sys.stdin.readline()
for s, target in zip(made, sys.argv[3:]):
    s.sendall(f"GET {target} HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n".encode())
print("sent", flush=True)
began = {}
while len(began) < len(made):
    for s in select.select([s for s in made if s not in began], [], [], 60)[0]:
        assert s.recv(4096).startswith(b"HTTP/1.1 200")
        began[s] = time.monotonic()
print(*[began[s] for s in made], flush=True)
"""


@contextlib.contextmanager
def racing(*arguments, uid):
    """Runs RACER; yields a function that sends the requests, and one that returns the times of their answers."""
    argv = [sys.executable, "-c", BECOME + RACER, *map(str, arguments), str(uid)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def send():
            process.stdin.write("go\n")
            process.stdin.flush()
            return process.stdout.readline()

        process.stdout.readline()
        try:
            yield send, lambda: [float(word) for word in process.stdout.readline().split()]
        finally:
            process.kill()


@contextlib.contextmanager
def running(program, *arguments, uid=NOBODY.pw_uid):
    """Runs a program as a user; yields the first line that it prints."""
    argv = [sys.executable, "-c", BECOME + program, *map(str, arguments), str(uid)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@contextlib.contextmanager
def stopped(profd):
    os.kill(profd.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(profd.pid, signal.SIGCONT)


class SlowRequests(unittest.TestCase):
    def test_a_request_has_fifteen_seconds_whatever_trickles_in(self):
        whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"y" * 1000
        upload = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n" + b"z" * 1000
        with Daemon() as profd, contextlib.ExitStack() as stack:
            # The requests stop in the first line, in a header, in the body, and behind an earlier request; the last
            # client sends nothing.
            slow = [[stack.enter_context(profd.connect(5)), data] for data in (whole, whole, upload, whole, b"")]
            slow[0][0].sendall(whole[:5])
            slow[1][0].sendall(whole[:30])
            slow[2][0].sendall(upload[:90])
            slow[3][0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(slow[3][0].recv(4096).startswith(b"HTTP/1.1 200"))
            at, began, ended = [5, 30, 90, 0, 0], time.monotonic(), {}
            while len(ended) < len(slow) and time.monotonic() < began + 30:
                time.sleep(0.5)
                for number, (s, data) in enumerate(slow):
                    if number in ended:
                        continue
                    with contextlib.suppress(OSError):
                        s.sendall(data[at[number]:at[number] + 1])
                        at[number] += 1
                    if select.select([s], [], [], 0)[0]:
                        ended[number] = time.monotonic() - began
            self.assertEqual(len(ended), len(slow), ended)
            for number, seconds in ended.items():
                self.assertTrue(14 < seconds < 19, (number, ended))
            # A client that has not sent a whole first line is idle, and is not counted as late.
            self.assertEqual(profd.metrics()["profd_http_requests_late_total"], 4)
            self.assertEqual(profd.get("/healthz").status, 200)

    def test_the_daemon_gets_no_cpu_at_that_moment(self):
        begin, end = b"GET /healthz HTTP/1.1\r\n", b"Host: localhost\r\n\r\n"
        with Daemon() as profd, contextlib.ExitStack() as stack:
            began = time.monotonic()
            whole, parts, late, idle = (stack.enter_context(profd.connect(5)) for _ in range(4))
            # The daemon is stopped nine seconds before the deadline: this test may get no CPU for a while, too.
            time.sleep(5)
            parts.sendall(begin)
            late.sendall(begin)
            time.sleep(1)
            with stopped(profd):
                after = time.monotonic() - began
                whole.sendall(begin + end)
                parts.sendall(end)
                time.sleep(12)
            self.assertEqual([s.recv(4096)[:12] for s in (whole, parts)], [b"HTTP/1.1 200"] * 2, f"sent after {after:.1f} s")
            self.assertEqual([s.recv(4096) for s in (late, idle)], [b""] * 2)
            self.assertEqual(profd.metrics()["profd_http_requests_late_total"], 1)

    def test_many_at_a_time_are_gone_by_then(self):
        with Daemon() as profd, contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(profd.connect(5)) for _ in range(300)]
            end = time.monotonic() + 40
            while sockets and time.monotonic() < end:
                for s in sockets:
                    with contextlib.suppress(OSError):
                        s.sendall(b"G")
                time.sleep(2)
                ready = select.select(sockets, [], [], 0)[0]
                sockets = [s for s in sockets if s not in ready]
                answer = profd.get("/healthz")
                self.assertEqual(answer.status, 200)
                self.assertLess(answer.seconds, 1)
            self.assertEqual(sockets, [])

    def test_an_answer_may_take_longer(self):
        with Daemon() as profd:
            answer = profd.get("/profile?seconds=17&format=text")
            self.assertEqual(answer.status, 200)


class Connections(unittest.TestCase):
    def test_a_user_has_a_share_and_root_has_all(self):
        with Daemon("--max-client-connections", str(SHARE)) as profd:
            with running(HOLDER, "127.0.0.1", profd.port, 3 * SHARE) as open_ones:
                self.assertEqual(int(open_ones), SHARE)
                self.assertEqual(profd.metrics()["profd_http_refused_connections_total"], 2 * SHARE)
                # The bound holds for every address of the user.
                stranger = as_user(NOBODY.pw_uid)
                self.assertEqual(curl(f"{profd.url}/healthz", through=stranger)[0], 0)
                self.assertEqual(curl(f"{profd.url}/healthz", "--interface", "127.0.0.2", through=stranger)[0], 0)
                self.assertEqual(curl(f"{profd.url}/healthz", through=as_user(54321)), (200, "ok\n"))
                self.assertEqual(profd.get("/healthz").status, 200)
                with running(HOLDER, "127.0.0.1", profd.port, 3 * SHARE, uid=0) as roots:
                    self.assertEqual(int(roots), 3 * SHARE)
            # The connections are closed, and the user's share is free again.
            end = time.monotonic() + 20
            while curl(f"{profd.url}/healthz", through=stranger)[0] != 200:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)

    def test_sockets_bound_to_a_device_count_for_the_same_user(self):
        with Daemon("--max-client-connections", str(SHARE)) as profd:
            with running(BOUND_HOLDER, "127.0.0.1", profd.port, 3 * SHARE) as open_ones:
                self.assertEqual(int(open_ones), SHARE)
                self.assertEqual(curl(f"{profd.url}/healthz", through=as_user(NOBODY.pw_uid))[0], 0)
                self.assertEqual(curl(f"{profd.url}/healthz", through=as_user(54321)), (200, "ok\n"))

    def test_over_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = f"{folder}/socket"
            with Daemon("--max-client-connections", "2", listen=f"unix:{path}") as profd, contextlib.ExitStack() as stack:
                os.chmod(path, 0o666)
                for _ in range(10):  # root has no bound
                    stack.enter_context(profd.connect(5))
                stranger = as_user(NOBODY.pw_uid)
                self.assertEqual(curl("http://x/healthz", "--unix-socket", path, through=stranger), (200, "ok\n"))
                self.assertEqual(profd.metrics()["profd_http_refused_connections_total"], 0)


class Turns(unittest.TestCase):
    MANY = 150

    def test_a_shared_answer_comes_when_its_own_would(self):
        """A user with a long queue also asks, as the last thing, what two others ask a moment later."""
        with Daemon("--max-requests", "512") as profd, contextlib.ExitStack() as stack:
            time.sleep(3)
            now = time.time()
            same = f"/profile?from={now - 2:.3f}&to={now - 0.5:.3f}&format=text"
            targets = [f"{same}&rows={rows}" for rows in range(1, self.MANY)] + [same]
            # The names are looked up now.
            self.assertEqual(profd.get(same).status, 200)
            first, *others = (
                stack.enter_context(racing("127.0.0.1", profd.port, *asked, uid=uid))
                for uid, asked in ((54321, targets), (54322, [same]), (54323, [same])))
            with stopped(profd):
                for send, _ in (first, *others):
                    self.assertEqual(send(), "sent\n")
            long, *short = (times() for _, times in (first, *others))
            self.assertEqual(len(long), self.MANY)
            for (began,) in short:
                self.assertLess(sum(time < began for time in long), self.MANY / 2)
            # The second one's answer may be ready before the third one's request is read.
            self.assertIn(profd.metrics()["profd_http_answers_shared_total"], (1, 2))


# Runs a command that sees another /etc/subuid than the host's.
OTHER_SUBUIDS = ["unshare", "--mount", "sh", "-ec", '[ -e /etc/subuid ] || : > /etc/subuid; mount --bind "$0" /etc/subuid; exec "$@"']


class Requests(unittest.TestCase):
    def test_a_user_and_his_subordinate_ids_are_one(self):
        with tempfile.NamedTemporaryFile("w") as subuids:
            subuids.write("nobody:300000:65536\n")
            subuids.flush()
            with Daemon("--max-client-connections", str(SHARE), through=[*OTHER_SUBUIDS, subuids.name]) as profd, \
                    running(HOLDER, "127.0.0.1", profd.port, 3 * SHARE, uid=300000) as open_ones:
                self.assertEqual(int(open_ones), SHARE)
                for uid in (300001, 365535, NOBODY.pw_uid):
                    self.assertEqual(curl(f"{profd.url}/healthz", through=as_user(uid))[0], 0, uid)
                self.assertEqual(curl(f"{profd.url}/healthz", through=as_user(365536)), (200, "ok\n"))

    def test_a_user_leaves_some_for_others_and_all_leave_some_for_root(self):
        with Daemon("--max-requests", "32") as profd, contextlib.ExitStack() as stack:
            url = f"{profd.url}/profile?last=10s&format=text"

            def ask(uid, count):
                """Returns how many of `count` requests are in flight."""
                return count - int(stack.enter_context(running(ASKER, "127.0.0.1", profd.port, count, uid=uid)))

            # Two requests are reserved for root. The first user gets half of the others, the next one half of the rest.
            self.assertEqual(ask(54321, 31), 15)
            status, body = curl(url, through=as_user(54321))
            self.assertEqual(status, 503)
            self.assertEqual(body.count("\n"), 1, body)
            self.assertIn("its share of in-flight requests", body)
            self.assertEqual(curl(f"{profd.url}/healthz", through=as_user(54321))[0], 200)
            self.assertEqual(curl(url, through=as_user(54322))[0], 200)
            self.assertEqual([ask(uid, 31) for uid in (54322, 54323, 54324, 54325)], [8, 4, 2, 1])
            status, body = curl(url, through=as_user(54326))
            self.assertEqual(status, 503)
            self.assertNotIn("share", body)
            self.assertEqual(curl(url)[0], 200)
            metrics = profd.metrics()
            self.assertEqual(metrics["profd_http_under_way"], 30)
            self.assertEqual(metrics["profd_http_refused_full_total"], 31)
            self.assertEqual(metrics["profd_http_refused_user_total"], 16 + 1 + 23 + 27 + 29)
