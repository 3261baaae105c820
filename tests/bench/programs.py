# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The programs whose stacks unwind.py measures: programs of the distribution, kept busy, and the test workloads.

Each is a context manager that yields the query parameter by which /profile finds the program ("pid=1234"), or raises
Missing with the packages that it needs.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from daemon import BUILD, ROOT, free_port
from workload import Workload

PYTHON = "/usr/bin/python3.11"
CC1 = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1"
VENV = os.path.join(BUILD, "bench-venv")
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
FOREVER = "100000000"

PROGRAMS = {}


class Missing(Exception):
    """A program is not installed."""


def program(name):
    def register(function):
        PROGRAMS[name] = contextlib.contextmanager(function)
        return function
    return register


def need(*commands):
    """Returns the paths of the commands; raises Missing when one is not installed."""
    found = [shutil.which(command) for command in commands]
    missing = [command for command, path in zip(commands, found) if path is None]
    if missing:
        raise Missing(", ".join(missing))
    return found


@contextlib.contextmanager
def running(argv, **options):
    with subprocess.Popen([str(word) for word in argv], **{**QUIET, **options}) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


@contextlib.contextmanager
def alone(name, *argv, **options):
    """Runs one process that is busy without a client."""
    with running([*need(name), *argv], **options) as process:
        yield f"pid={process.pid}"


# ---- servers and their load generators -------------------------------------------------------------------
@program("redis-server")
def redis():
    server, load = need("redis-server", "redis-benchmark")
    port = free_port()
    with running([server, "--port", port, "--save", "", "--bind", "127.0.0.1"]) as process:
        time.sleep(1)
        with running([
            load, "-p", port, "-q", "-n", FOREVER, "-P", "8", "-r", "100000",
            "-t", "set,get,incr,lpush,lpop,sadd,hset,spop,zadd,lrange_100",
        ]):
            yield f"pid={process.pid}"


NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error;
events {{ }}
http {{
  access_log {folder}/access; gzip on; gzip_min_length 100; gzip_types text/plain;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port}; root {folder}; default_type text/plain; }}
}}
"""


@program("nginx")
def nginx():
    server, load = need("nginx", "wrk")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        with open(f"{folder}/conf", "w", encoding="ascii") as conf:
            conf.write(NGINX.format(folder=folder, port=port))
        with open(f"{folder}/file.txt", "w", encoding="ascii") as file:
            file.write("a file of some text\n" * 200)
        with running([server, "-c", f"{folder}/conf"]):
            time.sleep(1)
            with running([
                load, "-t1", "-c20", "-d600", "-H", "Accept-Encoding: gzip",
                f"http://127.0.0.1:{port}/file.txt",
            ]):
                yield "comm=nginx"


@program("postgres")
def postgres():
    folders = [f"/usr/lib/postgresql/{version}/bin" for version in range(13, 19)]
    binaries = next((f for f in folders if os.path.exists(f"{f}/pgbench")), None)
    if binaries is None:
        raise Missing("postgres, pgbench")
    user = pwd.getpwnam("postgres")
    ids = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, user.pw_uid, user.pw_gid)
        connect = ["-h", folder, "-p", str(port)]
        subprocess.run([f"{binaries}/initdb", "-D", f"{folder}/db"], check=True, cwd=folder, **ids, **QUIET)
        server = [f"{binaries}/postgres", "-D", f"{folder}/db", "-k", folder, "-p", port]
        with running([*server, "-c", "listen_addresses=", "-c", "fsync=off"], cwd=folder, **ids) as process:
            time.sleep(2)
            tables = [f"{binaries}/pgbench", *connect, "-i", "-s", "5", "postgres"]
            subprocess.run(tables, check=True, cwd=folder, **ids, **QUIET)
            load = [f"{binaries}/pgbench", *connect, "-c", "4", "-T", "600", "postgres"]
            with running(load, cwd=folder, **ids):
                yield "comm=postgres"
            process.send_signal(signal.SIGQUIT)


# ---- one busy process ------------------------------------------------------------------------------------
@program("sqlite3")
def sqlite():
    query = (
        f"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT {FOREVER}) "
        "SELECT sum(x*x%7), count(DISTINCT x%1000), max(printf('%08x', x)), "
        "sum(hex(x) LIKE '%33%') FROM c;"
    )
    with alone("sqlite3", ":memory:", query) as who:
        yield who


@program("openssl")
def openssl():
    with alone("openssl", "speed", "-seconds", "1") as who:
        yield who


@program("xz")
def xz():
    source = os.path.realpath(PYTHON)
    with running(["sh", "-c", f"while cat {source}; do :; done"], stdout=subprocess.PIPE) as feeder:
        with alone("xz", "-6", "-T1", "-c", stdin=feeder.stdout) as who:
            yield who


FUNCTION = """
static int part{n}(const int *p, int n) {{
	int sum = {n};
	for (int i = 0; i < n; i++)
		sum += p[i] > {n} ? p[i] * sum : helper(sum, i) ^ p[i];
	switch (sum & 15) {{ case 0: return sum; case 1: return helper(n, sum); case 7: return -sum;
	default: return sum / (n | 1); }}
}}
int (*const pointer{n})(const int *, int) = part{n};
"""


@program("cc1")
def cc1():
    if not os.path.exists(CC1):
        raise Missing("gcc-12")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(CC1, f"{folder}/bench-cc1")  # a process name that no other compilation has
        with open(f"{folder}/large.c", "w", encoding="ascii") as source:
            source.write("int helper(int, int);\n")
            source.writelines(FUNCTION.format(n=n) for n in range(20000))
        compile_it = f"exec {folder}/bench-cc1 -quiet -O2 {folder}/large.c -o /dev/null"
        with running(["sh", "-c", compile_it]) as process:
            yield f"pid={process.pid}"


PYTHON_WORK = """
import json, re, pickle, zlib, random, decimal
random.seed(1)
data = {str(i): [random.random() for _ in range(10)] for i in range(1000)}
while True:
    text = json.dumps(data)
    json.loads(text)
    re.findall(r'0\\.(\\d+?)5', text)
    sorted(data.items(), key=lambda item: sum(item[1]))
    zlib.compress(pickle.dumps(data), 3)
    sum(decimal.Decimal(i) / 7 for i in range(2000))
"""


@program("python3.11")
def python():
    with alone(PYTHON, "-c", PYTHON_WORK) as who:
        yield who


NODE_WORK = """
const zlib = require('zlib');
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
for (;;) {
  const rows = Array.from({length: 5000}, (_, i) => ({id: i, name: 'n' + fib(i % 15), at: Math.sin(i)}));
  rows.sort((a, b) => a.at - b.at);
  const text = JSON.stringify(rows);
  text.replace(/n(\\d+)/g, (m, d) => d + m);
  zlib.deflateSync(JSON.stringify(JSON.parse(text)));
}
"""


@program("node")
def node():
    with alone("node", "-e", NODE_WORK) as who:
        yield who


def numpy(work):
    interpreter = f"{VENV}/bin/python"
    if not os.path.exists(interpreter):
        raise Missing("numpy (--install makes a virtual environment with it)")
    script = f"import numpy as np; a = np.random.rand(700, 700); b = np.random.rand(2000000)\nwhile True: {work}"
    with alone(interpreter, "-c", script, env={**os.environ, "OPENBLAS_NUM_THREADS": "2"}) as who:
        yield who


PROGRAMS["numpy-dgemm"] = contextlib.contextmanager(lambda: numpy("a @ a"))
PROGRAMS["numpy-sort"] = contextlib.contextmanager(lambda: numpy("np.sort(b)"))


# ---- test workloads --------------------------------------------------------------------------------------
def compiled(source, *command):
    """Builds a workload in another language than C in a temporary folder, and runs it."""
    need(command[0])
    with tempfile.TemporaryDirectory() as folder:
        source = f"{ROOT}/tests/workloads/{source}"
        built = f"{folder}/program"
        environment = {**os.environ, "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOCACHE": f"{BUILD}/go-cache"}
        subprocess.run([*command, "-o", built, source], check=True, cwd=folder, env=environment, **QUIET)
        with running([built]) as process:
            yield f"pid={process.pid}"


PROGRAMS["rust"] = contextlib.contextmanager(lambda: compiled("stacks_rust.rs", "rustc", "-O"))
PROGRAMS["go"] = contextlib.contextmanager(lambda: compiled("stacks_go.go", "go", "build"))


@contextlib.contextmanager
def workload(name, *arguments):
    with Workload(f"stacks_{name}", *arguments) as process:
        yield "comm=stacks_vfork" if name == "vfork" else f"pid={process.pid}"


def register_workloads():
    for name in ("chain", "chain-static", "chain-static-pie", "chain-musl", "frames", "coroutine", "longjmp",
                 "throw", "plt", "plt-lazy", "dlopen", "vfork", "threads", "syscalls",
                 *(["plt-ibt"] if os.uname().machine == "x86_64" else [])):
        PROGRAMS[name] = lambda name=name: workload(name)
    for mode in ("plain", "altstack", "nested"):
        PROGRAMS[f"signals-{mode}"] = lambda mode=mode: workload("signals", mode)
    for depth in (400, 5000):
        PROGRAMS[f"recursion-{depth}"] = lambda depth=depth: workload("recursion", depth)


register_workloads()
