#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Slow headers: COUNT connections, each of which sends one byte of an endless header every SECONDS seconds. Once a
second the program prints the number of open connections.

The daemon must close a connection whose request headers are incomplete 15 seconds after the first byte.

  slow_headers.py PORT COUNT SECONDS
"""

import socket
import sys
import time


def send(connections):
    """Sends a byte on each connection. Returns those that are still open."""
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
