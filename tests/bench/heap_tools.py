# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The heap profilers that heap.py measures: how each is started, and how it is known to have recorded something.

A Way applies to one run of a program: `around` the run (a daemon), through its `command` and environment, and `attached` to
its process while it works. Each method raises NotMeasured with the reason when the way cannot be measured on this host.
"""

import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from daemon import BUILD, Daemon

LIBRARY = os.path.join(BUILD, "libprofd-heap.so")
VENV = os.environ.get("BENCH_VENV", os.path.join(BUILD, "bench-venv"))
MEMRAY = os.path.join(VENV, "bin", "memray")
RATE = 512 << 10
ATTACH_SECONDS = 60
SETTLE_SECONDS = 4
LISTEN_SECONDS = 15


class NotMeasured(Exception):
    """The reason why a way cannot be measured, as text for people."""


def shared_library(name, package):
    found = glob.glob(f"/usr/lib/*/{name}") + glob.glob(f"/usr/lib64/{name}")
    if not found:
        raise NotMeasured(f"{name} is not here; apt-get install {package}")
    return found[0]


class Way:
    """No profiler: the base of the other ways."""

    name = "without"
    base = "without"  # the way to which this way's ratio is computed

    def programs(self, names):
        return names

    def check(self):
        """Raises NotMeasured when this host cannot run the way."""

    def command(self, argv, folder):
        return argv, {}

    @contextlib.contextmanager
    def around(self):
        yield None

    @contextlib.contextmanager
    def attached(self, pid, around):
        yield

    def recorded(self, folder):
        """Runs when the process has ended; raises NotMeasured if nothing was recorded."""


class Preloaded(Way):
    def __init__(self, name, library, package=None, base="without", records=None, **environment):
        self.name, self.library, self.package, self.base = name, library, package, base
        self.environment, self.records = environment, records

    def check(self):
        if self.package:
            shared_library(self.library, self.package)

    def command(self, argv, folder):
        path = shared_library(self.library, self.package) if self.package else self.library
        values = {name: value.format(folder=folder) for name, value in self.environment.items()}
        return argv, {"LD_PRELOAD": path, **values}

    def recorded(self, folder):
        if self.records and not glob.glob(os.path.join(folder, self.records)):
            raise NotMeasured(f"it left no {self.records}")


class Profd(Way):
    name = "profd, no heap"

    @contextlib.contextmanager
    def around(self):
        with Daemon() as daemon:
            # A real daemon is always running. The first seconds of this one go to the unwind tables of every program.
            time.sleep(SETTLE_SECONDS)
            yield daemon


class ProfdOnDemand(Profd):
    """GET /heap while the program works. The answer comes when the program has ended, or this process hangs up."""

    name = "profd, /heap on demand"

    def __init__(self):
        self.answer = None

    @contextlib.contextmanager
    def attached(self, pid, around):
        # 300 s are longer than any run: the profile ends with the process.
        path = f"/heap?pid={pid}&seconds=300&rate=512KiB&force=1&format=text"
        self.answer = None

        def ask():
            self.answer = around.get(path)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        # Before profd attaches, it counts the calls of its target for up to a second.
        time.sleep(4)
        self.refused()
        yield
        self.asking = asking

    def refused(self):
        if self.answer is not None and self.answer.status != 200:
            raise NotMeasured(f"profd answers {self.answer.status}: {self.answer.text.strip()}")

    def recorded(self, folder):
        self.asking.join(30)
        self.refused()
        if self.answer is None:
            raise NotMeasured("profd did not answer when the process had ended")
        if len(self.answer.text.splitlines()) < 3:
            raise NotMeasured("profd saw no allocation")


def listeners(pid):
    """Returns how many listen to the library's alloc probe in a process: the probe's semaphore."""
    notes = subprocess.run(["readelf", "-n", LIBRARY], check=True, capture_output=True, text=True).stdout
    address = int(re.search(r"Name: alloc\n.*Semaphore: (0x[0-9a-f]+)", notes)[1], 16)
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        start = next(int(line.split("-")[0], 16) for line in maps if os.path.basename(LIBRARY) in line)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(start + address)
        return int.from_bytes(memory.read(2), "little")


class ProfdListens(Profd):
    """The library, with the daemon listening to its probes."""

    name = "libprofd-heap, heard by profd"

    def command(self, argv, folder):
        return argv, {"LD_PRELOAD": LIBRARY}

    @contextlib.contextmanager
    def attached(self, pid, around):
        end = time.monotonic() + LISTEN_SECONDS
        while not listeners(pid):
            if time.monotonic() > end:
                raise NotMeasured(f"nobody listens to its probes after {LISTEN_SECONDS} s")
            time.sleep(0.1)
        yield


class Memleak(Way):
    """The memleak of bcc. It is compiled when it starts, so it needs kernel headers close to the running kernel's."""

    name = "bcc memleak"
    headers = os.path.join(BUILD, "bench-headers")

    def check(self):
        if not shutil.which("memleak-bpfcc"):
            raise NotMeasured("memleak-bpfcc is not here; apt-get install bpfcc-tools linux-headers-amd64")
        if os.path.isdir(f"/lib/modules/{os.uname().release}/build") or os.path.isdir(self.headers):
            return
        # Headers of another kernel than the running one work: memleak reads next to nothing of the kernel's structures.
        # Debian splits the headers into two folders; bcc takes only one.
        common = sorted(glob.glob("/usr/src/linux-headers-*-common"))
        own = sorted(glob.glob("/usr/src/linux-headers-*64"))
        if not common or not own:
            raise NotMeasured("no kernel headers; apt-get install linux-headers-amd64")
        for folder in (common[-1], own[-1]):
            os.makedirs(self.headers, exist_ok=True)
            subprocess.run(["cp", "-rs", "--remove-destination", f"{folder}/.", f"{self.headers}/"], check=True)

    @contextlib.contextmanager
    def attached(self, pid, around):
        environment = dict(os.environ)
        if os.path.isdir(self.headers):
            environment["BCC_KERNEL_SOURCE"] = self.headers
        self.log = os.path.join(BUILD, "bench-memleak.log")
        with open(self.log, "wb") as log:
            tool = subprocess.Popen(["memleak-bpfcc", "-p", str(pid), "600"], env=environment, stdout=log,
                                    stderr=subprocess.STDOUT)
        try:
            wait_for_probes(tool)
            if tool.poll() is not None:
                raise NotMeasured(f"memleak: {self.said().strip().splitlines()[-1]}")
            yield
        finally:
            if tool.poll() is None:
                tool.send_signal(signal.SIGINT)
            try:
                tool.wait(30)
            except subprocess.TimeoutExpired:
                tool.kill()
                tool.wait()

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()


def wait_for_probes(tool):
    """Waits until a process has perf events open and opens no more for two seconds, or has ended."""
    had, since = 0, time.monotonic()
    end = since + ATTACH_SECONDS
    while tool.poll() is None and (not had or time.monotonic() < since + 2):
        if time.monotonic() > end:
            raise NotMeasured(f"no probes within {ATTACH_SECONDS} s")
        links = []
        for descriptor in glob.glob(f"/proc/{tool.pid}/fd/*"):
            with contextlib.suppress(OSError):
                links.append(os.readlink(descriptor))
        have = sum("perf_event" in link for link in links)
        if have != had:
            had, since = have, time.monotonic()
        time.sleep(0.1)


class Heaptrack(Way):
    name = "heaptrack"

    def check(self):
        if not shutil.which("heaptrack"):
            raise NotMeasured("heaptrack is not here; apt-get install heaptrack")

    def command(self, argv, folder):
        return ["heaptrack", "--raw", "-o", os.path.join(folder, "track"), *argv], {}

    def recorded(self, folder):
        if not glob.glob(os.path.join(folder, "track*")):
            raise NotMeasured("heaptrack left no file")


class Memray(Way):
    name = "memray"

    def programs(self, names):
        return [name for name in names if name == "python"]

    def check(self):
        if not os.path.exists(MEMRAY):
            try:
                subprocess.run(["python3", "-m", "venv", VENV], check=True, capture_output=True)
                subprocess.run([f"{VENV}/bin/pip", "install", "-q", "memray"], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise NotMeasured(f"memray cannot be installed: {error}") from error

    def command(self, argv, folder):
        return [MEMRAY, "run", "-q", "-o", os.path.join(folder, "memray.bin"), *argv[1:]], {}

    def recorded(self, folder):
        if not os.path.exists(os.path.join(folder, "memray.bin")):
            raise NotMeasured("memray left no file")


TCMALLOC = {"library": "libtcmalloc.so.4", "package": "google-perftools"}
WAYS = (
    Way(),
    Profd(),
    Preloaded("libprofd-heap, unheard", LIBRARY),
    ProfdListens(),
    ProfdOnDemand(),
    Preloaded("tcmalloc", **TCMALLOC),
    Preloaded("tcmalloc, its sampling", base="tcmalloc", TCMALLOC_SAMPLE_PARAMETER=str(RATE), **TCMALLOC),
    Preloaded("tcmalloc, its heap profiler", base="tcmalloc", HEAPPROFILE="{folder}/heap", records="heap.*",
              **TCMALLOC),
    Memleak(),
    Heaptrack(),
    Memray(),
)
