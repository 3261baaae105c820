#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fails one call in each life of a daemon, with the library faults.so: malloc(), open(), read(), mmap(), bpf() or
perf_event_open(). A life is a start, a run of some seconds with a profile and other answers, and a stop. The daemon must
not crash, hang or leak: it ends with one line that says why, or it answers all requests, if need be with a refusal, and
then continues as if nothing had happened.

  make faults                                   FAULTS=10 calls of each kind, chosen at random
  FAULTS=all make faults                        one call from every place in the program
  FAULTS_SEED=7 FAULTS_KINDS="bpf perf" make faults
  FAULTS_IN="proc.c source_" make faults        only stacks with one of these texts in a function or line
  FAULTS_AT="malloc:1234" make faults           the 1234th
  make SAN=address,undefined faults             finds more

The first life records the places from which calls of each kind come; in each further life the first call from one place fails.
Addresses are the same in all lives, and so are places: FAULTS_AT="malloc:place=...", as printed by a run. The n-th call may come
from another place in another run, because the scheduling of threads differs.
"""

import contextlib
import ctypes
import mmap
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("system", "bench"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))

from accounts import Wrong, check_accounts, check_answer  # noqa: E402
from daemon import BUILD  # noqa: E402
from hostile_runs import NO_ANSWER, Starting  # noqa: E402
from workload import Workload  # noqa: E402

KINDS = ("malloc", "open", "read", "mmap", "bpf", "perf")  # in the order of faults.h
MAX_PLACES = 4096
HOW_MANY = os.environ.get("FAULTS", "10")
SEED = int(os.environ.get("FAULTS_SEED", random.randrange(1 << 32)))
CHOSEN = os.environ.get("FAULTS_KINDS", " ".join(KINDS)).split()
AT = os.environ.get("FAULTS_AT", "").split()
IN = os.environ.get("FAULTS_IN", "").split()
SANITIZED = "-" in os.path.basename(BUILD)
PATIENCE = 90 if SANITIZED else 45
TARGETS = ("/healthz", "/profile?seconds=1", "/profile?last=2s&format=folded", "/status", "/processes", "/timeline", "/metrics")
FOUND = re.compile(r"ERROR: \w+Sanitizer|runtime error:|Assertion .* failed")
STACK = re.compile(r"^fault: begin\n(.*?)^fault: end\n", re.MULTILINE | re.DOTALL)


class Place(ctypes.Structure):
    _fields_ = [("hash", ctypes.c_uint64), ("frames", ctypes.c_uint64 * 10)]


class Faults(ctypes.Structure):
    """struct faults of faults.h."""

    _fields_ = [("kind", ctypes.c_uint64), ("nth", ctypes.c_uint64), ("place", ctypes.c_uint64), ("notes_places", ctypes.c_uint64),
                ("failed", ctypes.c_uint64), ("counts", ctypes.c_uint64 * len(KINDS)),
                ("place_counts", ctypes.c_uint64 * len(KINDS)), ("places", Place * MAX_PLACES * len(KINDS))]


# Memory that the dynamic linker keeps for the library that walks stacks.
LEAKS = "leak:dl_open_worker_begin\n"


class Shared:
    """The file that the library maps, too."""

    def __init__(self, path, kind=0, nth=0, place=0, notes=False):
        with open(path, "wb") as file:
            file.truncate(ctypes.sizeof(Faults))
        with open(f"{path}.lsan", "w", encoding="ascii") as file:
            file.write(LEAKS)
        with open(path, "r+b") as file:
            self.area = mmap.mmap(file.fileno(), 0)
        self.faults = Faults.from_buffer(self.area)
        self.faults.kind, self.faults.nth, self.faults.place, self.faults.notes_places = kind, nth, place, notes


def stack_of(pid):
    """The stacks of the threads of a process that hangs."""
    run = subprocess.run(["gdb", "-q", "-batch", "-p", str(pid), "-ex", "thread apply all bt 12"], capture_output=True,
                         text=True, timeout=120, check=False) if os.access("/usr/bin/gdb", os.X_OK) else None
    return run.stdout if run else "no gdb here"


def lines_of(stack):
    """The functions and lines of the stack that faults.so printed, innermost first."""
    told = []
    for path, offset in re.findall(r"^(\S+?)\(\+(0x[0-9a-f]+)\)", stack, re.MULTILINE):
        if os.path.basename(path) != "profd":
            continue
        # The call is before the return address.
        run = subprocess.run(["addr2line", "-fse", path, hex(int(offset, 16) - 1)], capture_output=True, text=True, check=True)
        function, line = run.stdout.split("\n")[:2]
        told.append(f"{function} {line}")
    return told


def base_of(pid):
    """The lowest address of the program."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return next((int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith("/profd")), 0)


def wanted(places, base):
    """The places whose stacks have a text of FAULTS_IN; all places without FAULTS_IN."""
    if not IN:
        return places
    addresses = sorted({frame - 1 - base for place in places for frame in place.frames if 0 < frame - base < 1 << 32})
    run = subprocess.run(["addr2line", "-fse", os.path.join(BUILD, "profd")], check=True, capture_output=True, text=True,
                         input="".join(f"{address:#x}\n" for address in addresses))
    lines = run.stdout.split("\n")
    told = {address: lines[2 * i] + " " + lines[2 * i + 1] for i, address in enumerate(addresses)}
    return [place for place in places
            if any(word in told.get(frame - 1 - base, "") for frame in place.frames for word in IN)]


def ended(server):
    """What is wrong with the end of a server that ended without SIGTERM, or None."""
    code, log = server.process.returncode, server.log()
    errors = [line for line in log.splitlines() if line.startswith("profd: error: ")]
    if code < 0:
        return f"killed by signal {-code}"
    if code == 0 or len(errors) != 1:
        return f"ended with {code} and {len(errors)} lines of error"
    return None


def ask(server):
    """Checks each answer: the requested content, or a refusal of one line."""
    for target in TARGETS:
        answer = server.get(target, timeout=PATIENCE)
        if answer.status >= 500 and answer.text.count("\n") <= 1:
            continue
        check_answer(target, answer)


def live(server):
    """Runs a life to its end. Returns what was wrong with it, or None."""
    if server.wait_ready(PATIENCE) is None:
        return f"not ready after {PATIENCE} s: {stack_of(server.pid)}" if server.process.poll() is None else ended(server)
    server.base = base_of(server.pid)
    try:
        ask(server)
        ask(server)
        if server.get("/profile?seconds=1", timeout=PATIENCE).status != 200:
            return "no profile though the fault is over"
        check_accounts(server)
    except (Wrong, *NO_ANSWER) as wrong:
        return f"{wrong!r}" if server.process.poll() is None else f"{ended(server) or 'ended'}, when it was asked: {wrong!r}"
    server.process.send_signal(signal.SIGTERM)
    try:
        code = server.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return f"did not end: {stack_of(server.pid)}"
    return f"ended with {code} on SIGTERM" if code else None


def one_life(path):
    """(what was wrong or None, the log, the lowest address of the program)."""
    library = os.path.join(BUILD, "tests", "faults", "faults.so")
    options = f"allocator_may_return_null=1:verify_asan_link_order=0:{os.environ.get('ASAN_OPTIONS', '')}"
    # Without address randomization, so that a place is the same in all lives.
    through = ["setarch", "-R", "env", f"LD_PRELOAD={library}", f"FAULTS={path}", f"ASAN_OPTIONS={options}",
               f"LSAN_OPTIONS=suppressions={path}.lsan:print_suppressions=0"]
    server = Starting(through=through)
    try:
        wrong = live(server)
    finally:
        server.process.kill()
        server.process.wait()
        log = server.log()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(server.log_path)
    found = FOUND.search(STACK.sub("", log))
    if found:
        wrong = f"{wrong or ''} {log[found.start():][:4000]}"
    return wrong, log, getattr(server, "base", 0)


def choose(rng, faults, base):
    """["kind:place=hash"]: all places, or some at random."""
    chosen = []
    for kind, name in enumerate(KINDS):
        places = [faults.places[kind][i] for i in range(min(faults.place_counts[kind], MAX_PLACES))]
        hashes = [place.hash for place in wanted(places, base)]
        print(f"faults: {faults.counts[kind]} calls of {name} from {len(places)} places, {len(hashes)} wanted", flush=True)
        if name in CHOSEN:
            some = hashes if HOW_MANY == "all" else rng.sample(hashes, min(int(HOW_MANY), len(hashes)))
            chosen += [f"{name}:place={place:#x}" for place in some]
    return chosen


def try_one(what, path):
    """Runs a life with that fault. Returns whether it was as it must be."""
    start, (kind, which) = time.monotonic(), what.split(":")
    nth, place = (0, int(which[len("place="):], 0)) if which.startswith("place=") else (int(which), 0)
    Shared(path, KINDS.index(kind), nth, place)
    wrong, log, _ = one_life(path)
    stack = STACK.search(log)
    where = " < ".join(lines_of(stack.group(1))[:6]) if stack else "not reached this time"
    print(f"{'WRONG' if wrong else 'ok   '} {what} {time.monotonic() - start:.1f} s  {where}", flush=True)
    if wrong:
        print(f"      {wrong}\n      {STACK.sub('', log)[:1500]}", flush=True)
    return not wrong


def run(path):
    rng = random.Random(SEED)
    print(f"faults: FAULTS_SEED={SEED}", flush=True)
    with Workload(os.path.join(BUILD, "workloads", "spin60_30_10")):
        chosen = AT
        if not chosen:
            shared = Shared(path, notes=True)
            wrong, log, base = one_life(path)
            if wrong:
                sys.exit(f"faults: FAILED without any fault: {wrong} {log}")
            chosen = choose(rng, shared.faults, base)
        wrong = [what for what in chosen if not try_one(what, path)]
    print(f"faults: {'FAILED' if wrong or not chosen else 'passed'}: {len(chosen) - len(wrong)} of {len(chosen)} as they must be"
          f"{'; FAULTS_AT=' + repr(' '.join(wrong)) if wrong else ''}")
    return 1 if wrong or not chosen else 0


def main():
    if os.geteuid() != 0:
        sys.exit("faults: needs root: sudo make faults")
    with tempfile.TemporaryDirectory() as folder:
        return run(os.path.join(folder, "faults"))


if __name__ == "__main__":
    sys.exit(main())
