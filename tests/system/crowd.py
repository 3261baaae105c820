# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Very many clients in one thread: each sends raw requests and reads the answers as fast or as slowly as a test wants."""

import selectors
import socket
import time


class Client:
    """One keep-alive connection and the bytes that have come back on it."""

    def __init__(self, address, small=False):
        self.sock = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX)
        if small:  # bytes that the client does not read stay with the daemon
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.settimeout(60)
        self.sock.connect(address)
        self.data = b""
        self.closed = False

    def ask(self, target, headers=""):
        self.sock.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())

    @property
    def status(self):
        return int(self.data.split(b" ", 2)[1]) if self.data.startswith(b"HTTP/1.1 ") else None

    def body(self):
        """Returns the body of a complete answer, or None while it is incomplete."""
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return None
        lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        return body[: lengths[0]] if lengths and len(body) >= lengths[0] else None

    def read(self, most=1 << 20):
        """Reads the available bytes; False once the connection is closed."""
        try:
            more = self.sock.recv(most)
        except OSError:
            more = b""
        self.data += more
        self.closed = not more
        return bool(more)


class Crowd:
    """`count` clients; use it in a with statement."""

    def __init__(self, daemon, count, small=False):
        self.clients = []
        try:
            for _ in range(count):
                self.clients.append(Client(("127.0.0.1", daemon.port), small))
        except OSError:
            self.close()
            raise

    def ask(self, target):
        for client in self.clients:
            client.ask(target)

    def wait(self, seconds, each=None):
        """Waits until every client has a complete answer or a closed connection; calls `each` meanwhile. False when too late."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            for client in self.clients:
                if client.body() is None and not client.closed:
                    waiting.register(client.sock, selectors.EVENT_READ, client)
            while waiting.get_map() and time.monotonic() < end:
                for key, _ in waiting.select(0.05):
                    if not key.data.read() or key.data.body() is not None:
                        waiting.unregister(key.fileobj)
                if each:
                    each()
            return not waiting.get_map()

    def close(self):
        for client in self.clients:
            client.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
