# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The bound of one client's TLS handshakes. The test runs alone, because it measures how long others wait on a busy machine."""

import time
import unittest

from guarded import TLS, Folder, Guarded
from test_client_shares import running

# Makes handshakes without end in several threads, and retries a refused one at once.
FLOOD = """
import socket, ssl, threading
become()
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
def flood():
    while True:
        try:
            with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as s:
                context.wrap_socket(s).close()
        except OSError:
            pass
for _ in range(int(sys.argv[2])):
    threading.Thread(target=flood, daemon=True).start()
print("begun", flush=True)
sys.stdin.read()
"""


class Handshakes(unittest.TestCase):
    def test_a_flood_leaves_room_for_others(self):
        folder = Folder()
        self.addCleanup(folder.remove)
        # The key whose handshake costs most among those in common use.
        folder.openssl("req", "-x509", "-newkey", "rsa:4096", "-nodes", "-keyout", "server.key", "-days", "2", "-subj",
                       "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", "server.pem")
        folder.write(TLS)
        context = folder.context()
        context.load_verify_locations(folder.file("server.pem"))
        with Guarded(folder, context=context, user=None) as server:
            with running(FLOOD, server.port, 64) as begun:
                self.assertEqual(begun, "begun")
                slowest, end = 0, time.monotonic() + 8
                while time.monotonic() < end:
                    answer = server.get("/healthz")
                    self.assertEqual(answer.status, 200)
                    slowest = max(slowest, answer.seconds)
                    time.sleep(0.1)
            self.assertLess(slowest, 2)  # 0.3 s on an idle host
            metrics = server.metrics()
            self.assertGreater(metrics["profd_http_refused_handshakes_total"], 0)
