#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Slow headers: COUNT connections that send one byte of a header that never ends in SECONDS seconds. Once a second it
prints how many are open.

The daemon must hang up on a request whose headers are not there 15 seconds after it began, however they come.

  slow_headers.py PORT COUNT SECONDS
"""

import socket
import sys
import time


def send(connections):
    """A byte each; those that are still open."""
    left = []
    for connection in connections:
        try:
            connection.send(b"x")
            left.append(connection)
        except BlockingIOError:
            left.append(connection)
        except OSError:
            connection.close()
    return left


def closed(connection):
    try:
        return connection.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def main():
    port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    connections = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), 10)
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        connection.setblocking(False)
        connections.append(connection)
    print("ready", flush=True)
    at = time.monotonic()
    while True:
        if time.monotonic() >= at:
            connections, at = send(connections), at + seconds
        connections = [connection for connection in connections if not closed(connection)]
        print(len(connections), flush=True)
        time.sleep(1)


if __name__ == "__main__":
    main()
