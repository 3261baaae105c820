# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: for as many seconds as argument 1 says, the main thread asks() a server in another thread, which answers after 40 ms;
locks() a lock that another thread has for 30 ms more; gathers() ten tasks that sleep for 50 ms; sleeps() for 20 ms; and
computes() for 40 ms of CPU time. Then it prints, as JSON, how much time its own clock says that each took; with "yappi" as
argument 2, also what yappi says."""

import asyncio
import collections
import http.server
import json
import sys
import threading
import time
import urllib.request

NAMES = ("asks", "locks", "gathers", "sleeps", "computes")


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.040)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *unused):
        pass


def asks(address):
    urllib.request.urlopen(address).read()


def holds(lock, wanted, held):
    while True:
        wanted.acquire()
        with lock:
            held.release()
            time.sleep(0.030)


def locks(lock):
    with lock:
        pass


async def naps():
    await asyncio.sleep(0.050)


async def all_naps():
    await asyncio.gather(*(naps() for _ in range(10)))


def gathers():
    asyncio.run(all_naps())


def sleeps():
    time.sleep(0.020)


def computes():
    end = time.thread_time() + 0.040
    while time.thread_time() < end:
        sum(range(1000))


def main():
    seconds, tool = float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    lock, wanted, held = threading.Lock(), threading.Semaphore(0), threading.Semaphore(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=holds, args=(lock, wanted, held), daemon=True).start()
    address, took = f"http://127.0.0.1:{server.server_port}/", collections.Counter()
    if tool == "yappi":
        import yappi
        yappi.set_clock_type("wall")
        yappi.start()
    print("ready", flush=True)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        wanted.release()
        held.acquire()
        for function, arguments in ((locks, (lock,)), (asks, (address,)), (gathers, ()), (sleeps, ()), (computes, ())):
            begun = time.perf_counter()
            function(*arguments)
            took[function.__name__] += time.perf_counter() - begun
    if tool == "yappi":
        yappi.stop()
        stats = {row.name: row.ttot for row in yappi.get_func_stats() if row.module == __file__ and row.name in NAMES}
        took = {"own": took, "tool": stats}
    print(json.dumps(took), flush=True)


main()
