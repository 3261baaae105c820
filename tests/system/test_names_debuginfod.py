# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Debug files from debuginfod servers. profd downloads them in the background, only from the servers in its settings, by a
process that may do nothing else, and within limits that protect the disk and other users."""

import contextlib
import http.server
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

import daemon
import elf_file
import guarded
import test_privileges
from daemon import Daemon, free_port
from proc_files import FIRST_READER_USER, children, fields
from workload import Workload, workload_path

LANE = "readers"
NICE = 10  # of programs that spin until their lines are known
VARIANT = "names/cc-stripped"
SOURCE = os.path.join(daemon.ROOT, "tests/workloads/levels.cc")
INDEX_SECONDS = 30  # ample time for the server to scan its folder
SILENT_SECONDS = 90  # after which libdebuginfod gives up a silent server
FETCH_SECONDS = 30  # ample time for a download from this machine
EX_CONFIG = 78
ALICE, BOB = 12345, 12346  # user IDs that no account has
CACHE_BYTES = 1 << 20  # the minimum; one user may have half of it, and download so many bytes an hour
FILE_BYTES = 300 << 10
# Where distributions keep the trusted certificates.
TRUSTED = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")


class DebugFiles(http.server.ThreadingHTTPServer):
    """A debuginfod server that records the requests, and can stop in the middle of a file."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.files, self.asked = {}, []
        self.go_on = threading.Event()
        self.go_on.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.go_on.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # tests kill the client


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        build_id = self.path.split("/")[2]
        data = self.server.files.get(build_id)
        if data is None:
            self.send_error(404)  # for example libc
            return
        self.server.asked.append(build_id)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        half = len(data) // 2
        self.wfile.write(data[:half])
        self.server.go_on.wait(FETCH_SECONDS)
        self.wfile.write(data[half:])

    def log_message(self, format, *arguments):
        pass


class Debuginfod(unittest.TestCase):
    def setUp(self):
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)
        self.folder = self.running.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)
        # The library's downloads go to this folder; the host's own cache is not used.
        self.cache = f"{self.folder}/cache"
        self.pids = []
        environment = {"DEBUGINFOD_CACHE_PATH": self.cache}
        self.running.enter_context(unittest.mock.patch.dict(os.environ, environment))

    def start(self, *options):
        return self.running.enter_context(Daemon("--debuginfod-http", "yes", *options))

    def serve(self):
        server = DebugFiles()
        self.running.callback(server.close)
        return server

    def program(self, server, user=0):
        """Starts a user's program whose debug file the server has; returns the process and its build ID."""
        name = f"program{len(server.files)}"
        with open(workload_path(VARIANT), "rb") as file:
            data = bytearray(file.read())
        old = elf_file.build_id(workload_path(VARIANT))
        elf_file.renew_build_id(data)
        path = elf_file.write_program(f"{self.folder}/{name}", data)
        os.chown(path, user, user)
        build_id = elf_file.build_id(path)
        subprocess.run(
            ["objcopy", "--only-keep-debug", workload_path(VARIANT + ".reference"), f"{path}.debug"], check=True
        )
        with open(f"{path}.debug", "rb") as file:
            debug = file.read().replace(bytes.fromhex(old), bytes.fromhex(build_id))
        os.unlink(f"{path}.debug")
        server.files[build_id] = debug.ljust(FILE_BYTES, b"\0")
        process = self.running.enter_context(Workload(path, uid=user))
        os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        self.pids.append(process.pid)
        return process, build_id

    def cached(self):
        """Returns the build IDs of the cached files, and their total size."""
        names = os.listdir(f"{self.cache}/files")
        sizes = [os.stat(f"{self.cache}/files/{name}").st_size for name in names]
        return {name.partition(".")[0] for name in names if name != ".new"}, sum(sizes)

    def wait_until(self, server, holds):
        """Waits until holds() is true, and asks for profiles of the test's programs: only they cause downloads."""
        end = time.monotonic() + FETCH_SECONDS
        while not holds():
            self.assertLess(time.monotonic(), end, (self.fetches(server), server.log()))
            server.profile("seconds=1&" + "&".join(f"pid={pid}" for pid in self.pids))

    def wait_lines(self, server, process):
        self.wait_until(server, lambda: self.lines(server.profile(f"last=5s&pid={process.pid}")))

    def fetchers(self, server):
        return [pid for pid, name, state in children(server.pid) if name == "profd-fetch" and state != "Z"]

    def wait_fetcher(self, server, debug_files, times):
        """Waits until the server has sent half a file; returns the process that receives it."""
        self.wait_until(server, lambda: len(debug_files.asked) >= times and self.fetchers(server))
        pid, = self.fetchers(server)
        return pid

    def start_stripped(self):
        """Starts the program in an empty folder, where no file beside it has its debug information."""
        path = shutil.copy(workload_path(VARIANT), f"{self.folder}/program")
        return self.running.enter_context(Workload(path))

    def lines(self, profile):
        return {
            (frame.file, frame.line) for frames in profile.frames.values() for frame in frames
            if frame.file == SOURCE and frame.line
        }

    def serve_debug_file(self):
        """Starts a debuginfod server with the program's debug file; returns its URL once it is ready."""
        served = f"{self.folder}/served"
        os.mkdir(served)
        subprocess.run(
            ["objcopy", "--only-keep-debug", workload_path(VARIANT + ".reference"), f"{served}/program.debug"],
            check=True,
        )
        port = free_port()
        command = ["debuginfod", "-F", "-p", str(port), "-d", f"{self.folder}/index", served]
        environment = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
        server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=self.folder
        )
        self.running.callback(server.wait)
        self.running.callback(server.kill)
        url = f"http://127.0.0.1:{port}"
        self.wait_for_index(f"{url}/buildid/{elf_file.build_id(workload_path(VARIANT))}/debuginfo")
        return url

    def wait_for_index(self, url):
        end = time.monotonic() + INDEX_SECONDS
        while True:
            with contextlib.suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url, timeout=5):
                return
            self.assertLess(time.monotonic(), end, f"debuginfod does not have {url}")
            time.sleep(0.1)

    def listen(self):
        """Starts a server that accepts connections and never answers."""
        listener = self.running.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"

    def fetches(self, server):
        return {name: value for name, value in server.metrics().items() if "debuginfod" in name}

    def was_asked(self, listener):
        try:
            listener.accept()[0].close()
            return True
        except BlockingIOError:
            return False

    def test_a_stripped_program_gets_lines(self):
        server = self.start("--debuginfod", self.serve_debug_file())
        spin = self.start_stripped()
        end = time.monotonic() + FETCH_SECONDS
        while not self.lines(server.profile(f"seconds=1&pid={spin.pid}")):
            self.assertLess(time.monotonic(), end, self.fetches(server))
        self.assertGreaterEqual(server.metrics()["profd_debuginfod_fetched_total"], 1)

    def test_a_server_that_never_answers_delays_nothing(self):
        listener, url = self.listen()
        server = self.start("--debuginfod", url)
        spin = self.start_stripped()
        for _ in range(2):
            answer = server.get(f"/profile?seconds=2&pid={spin.pid}")
            self.assertEqual(answer.status, 200)
            self.assertLess(answer.seconds, SILENT_SECONDS / 4)
        self.assertTrue(self.was_asked(listener))
        code, took = server.stop()
        self.assertEqual(code, 0)
        self.assertLess(took, 10)

    def test_nobody_is_asked_unless_named(self):
        listener, url = self.listen()
        with unittest.mock.patch.dict(os.environ, {"DEBUGINFOD_URLS": url}):
            server = self.start()
        spin = self.start_stripped()
        for _ in range(2):
            self.assertEqual(self.lines(server.profile(f"seconds=1&pid={spin.pid}")), set())
        self.assertFalse(self.was_asked(listener))

    def test_only_https_unless_told_otherwise(self):
        def check(*options):
            command = [daemon.PROFD, "config", "check", "--config", "/dev/null", *options]
            return subprocess.run(command, capture_output=True, text=True, timeout=30)

        plain = ("--debuginfod", "https://a.example http://b.example/c")
        for words in (("config", "check"), ("serve",)):
            command = [daemon.PROFD, *words, "--config", "/dev/null", "--listen", f":{free_port()}", "--insecure", *plain]
            refused = subprocess.run(command, capture_output=True, text=True, timeout=30)
            self.assertEqual(refused.returncode, EX_CONFIG, refused)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
            self.assertIn("bad debuginfod = http://b.example/c: without debuginfod-http = yes", refused.stderr)
        self.assertEqual(check("--debuginfod-http", "yes", *plain).returncode, 0)
        self.assertEqual(check("--debuginfod", "https://a.example").returncode, 0)

    def test_https_and_names_of_hosts(self):
        """The download process is allowed the system calls and files that TLS and the lookup of a host name need."""
        debug_files = self.serve()
        certificates = guarded.Folder()
        self.running.callback(certificates.remove)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{certificates.path}/server.pem", f"{certificates.path}/server.key")
        debug_files.socket = context.wrap_socket(debug_files.socket, server_side=True)
        trusted = next(path for path in TRUSTED if os.path.exists(path))
        # Only the daemon and its processes see this mount.
        script = f'mount --bind "{certificates.path}/ca.pem" "{os.path.realpath(trusted)}" && exec "$@"'
        through = ("unshare", "--mount", "sh", "-c", script, "sh")
        url = f"https://localhost:{debug_files.server_port}"
        server = self.running.enter_context(Daemon("--debuginfod", url, through=through))
        process, build_id = self.program(debug_files)
        self.wait_lines(server, process)
        self.assertEqual(debug_files.asked, [build_id])

    def test_it_is_nobody_and_may_do_nothing(self):
        debug_files = self.serve()
        debug_files.go_on.clear()
        server = self.start("--debuginfod", debug_files.url)
        process, build_id = self.program(debug_files)
        pid = self.wait_fetcher(server, debug_files, 1)
        status = fields(pid, "status")
        users = {int(user) for ids in ("Uid", "Gid") for user in status[ids].split()}
        self.assertEqual(len(users), 1, status)
        self.assertIn(*users, range(FIRST_READER_USER, FIRST_READER_USER + 1000))
        readers = [pid for pid, name, _ in children(server.pid) if name == "profd-names"]
        self.assertTrue(readers)
        for reader in readers:
            self.assertNotIn(int(fields(reader, "status")["Uid"].split()[0]), users)
        self.assertEqual(status["Groups"].split(), [])
        for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[capabilities], 16), 0, capabilities)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        limits = fields(pid, "limits")
        self.assertNotEqual(limits["Max data size"].split()[0], "unlimited")
        self.assertEqual(limits["Max core file size"].split()[:2], ["0", "0"])
        self.assertEqual(limits["Max file size"].split()[:2], [str(1 << 30)] * 2, "half of the cache")
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), f"{self.cache}/fetching/room")
        # The process has the file that it downloads and files that it writes itself, but no other file of the daemon.
        paths = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        files = {path for path in paths if path.startswith(self.folder)}
        self.assertIn(f"{self.cache}/files/.new", files)
        self.assertTrue(all(path.startswith(f"{self.cache}/fetching/room") or path.endswith("/.new") for path in files), files)
        self.assertEqual({path for path in paths if "bpf" in path or "perf" in path}, set())
        # Other users cannot enter the folder that it writes to.
        self.assertEqual(os.stat(f"{self.cache}/fetching").st_mode & 0o777, 0o700)
        debug_files.go_on.set()
        self.wait_lines(server, process)
        self.assertEqual(self.cached()[0], {build_id})
        self.wait_until(server, lambda: not self.fetchers(server))

    def test_of_a_daemon_that_is_not_root(self):
        """As under systemd, the daemon is not root, so the process runs as the same user, but without capabilities."""
        user = test_privileges.NOBODY
        os.mkdir(self.cache, 0o700)
        os.chown(self.cache, user, user)
        debug_files = self.serve()
        debug_files.go_on.clear()
        options = ("--debuginfod", debug_files.url, "--debuginfod-http", "yes")
        server = self.running.enter_context(Daemon(*options, through=test_privileges.Unprivileged.through))
        process, build_id = self.program(debug_files)
        pid = self.wait_fetcher(server, debug_files, 1)
        status = fields(pid, "status")
        self.assertEqual(set(status["Uid"].split()), {str(user)})
        for capabilities in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[capabilities], 16), 0, capabilities)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        debug_files.go_on.set()
        self.wait_lines(server, process)
        self.assertEqual(self.cached()[0], {build_id})

    def test_killed_in_the_middle(self):
        debug_files = self.serve()
        server = self.start("--debuginfod", debug_files.url)
        first, first_id = self.program(debug_files)
        self.wait_lines(server, first)
        debug_files.go_on.clear()
        second, second_id = self.program(debug_files)
        os.kill(self.wait_fetcher(server, debug_files, 2), signal.SIGKILL)
        # profd starts the download once more, from the beginning.
        self.wait_until(server, lambda: len(debug_files.asked) == 3)
        debug_files.go_on.set()
        self.wait_lines(server, second)
        self.assertEqual(debug_files.asked, [first_id, second_id, second_id])
        # After two kills the download is postponed; others proceed.
        debug_files.go_on.clear()
        _, third_id = self.program(debug_files)
        for times in (4, 5):
            os.kill(self.wait_fetcher(server, debug_files, times), signal.SIGKILL)
        self.wait_until(server, lambda: server.metrics()["profd_debuginfod_lost_total"] == 1)
        debug_files.go_on.set()
        fourth, fourth_id = self.program(debug_files)
        self.wait_lines(server, fourth)
        self.assertEqual(self.cached()[0], {first_id, second_id, fourth_id})
        self.assertEqual(debug_files.asked[3:], [third_id, third_id, fourth_id])
        metrics = server.metrics()
        self.assertEqual(metrics["profd_debuginfod_fetched_total"], 3)
        self.assertEqual(metrics["profd_debuginfod_cache_bytes"], 3 * FILE_BYTES)
        self.assertEqual([child for child in children(server.pid) if child[2] == "Z"], [])

    def test_a_download_has_a_deadline(self):
        debug_files = self.serve()
        debug_files.go_on.clear()
        with unittest.mock.patch.dict(os.environ, {"DEBUGINFOD_MAXTIME": "2"}):
            server = self.start("--debuginfod", debug_files.url)
        process, hanging = self.program(debug_files)
        self.wait_fetcher(server, debug_files, 1)
        start = time.monotonic()
        self.wait_until(server, lambda: not self.fetchers(server))
        self.assertLess(time.monotonic() - start, 2 + 4)
        debug_files.go_on.set()
        other, build_id = self.program(debug_files)
        self.wait_lines(server, other)
        self.assertEqual(self.cached(), ({build_id}, FILE_BYTES))
        # The next attempt comes after an hour.
        self.assertEqual(debug_files.asked.count(hanging), 1)
        self.assertEqual(self.lines(server.profile(f"last=5s&pid={process.pid}")), set())
        metrics = server.metrics()
        self.assertGreaterEqual(metrics["profd_debuginfod_missing_total"], 1)
        self.assertGreaterEqual(metrics["profd_debuginfod_received_bytes_total"], FILE_BYTES + FILE_BYTES // 4)

    def test_it_ends_with_the_daemon_and_another_begins_anew(self):
        debug_files = self.serve()
        server = self.start("--debuginfod", debug_files.url)
        first, first_id = self.program(debug_files)
        self.wait_lines(server, first)
        debug_files.go_on.clear()
        second, second_id = self.program(debug_files)
        pid = self.wait_fetcher(server, debug_files, 2)
        server.stop(signal.SIGKILL)
        end = time.monotonic() + 5
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertIn(second_id, os.listdir(f"{self.cache}/fetching/room"))
        debug_files.go_on.set()
        server = self.start("--debuginfod", debug_files.url)
        self.assertFalse(os.path.exists(f"{self.cache}/files/.new"))
        for process in (first, second):
            self.wait_lines(server, process)
        self.assertEqual(self.cached(), ({first_id, second_id}, 2 * FILE_BYTES))
        # The first file was in the cache.
        self.assertEqual(debug_files.asked, [first_id, second_id, second_id])
        self.assertEqual(os.listdir(f"{self.cache}/fetching/room"), [])

    def test_a_user_over_budget_is_refused_and_another_served(self):
        debug_files = self.serve()
        server = self.start("--debuginfod", debug_files.url, "--debuginfod-cache", "1MiB")
        first, first_id = self.program(debug_files, ALICE)
        self.wait_lines(server, first)
        self.assertEqual(server.metrics()["profd_debuginfod_over_budget_total"], 0)
        _, second_id = self.program(debug_files, ALICE)
        self.wait_until(server, lambda: server.metrics()["profd_debuginfod_over_budget_total"] > 0)
        other, other_id = self.program(debug_files, BOB)
        self.wait_lines(server, other)
        names, size = self.cached()
        self.assertEqual(names, {first_id, other_id})
        self.assertLessEqual(size, CACHE_BYTES)
        self.assertLessEqual(debug_files.asked.count(second_id), 1)
        self.assertEqual(server.json("/status")["debuginfod"]["fetched"], 2)

    def test_what_was_used_least_recently_makes_room(self):
        debug_files = self.serve()
        os.makedirs(f"{self.cache}/files", mode=0o700)
        os.chmod(self.cache, 0o700)
        kept = {f"{number:040x}": number for number in range(1, 4)}
        for build_id, number in kept.items():
            with open(f"{self.cache}/files/{build_id}.0", "wb") as file:
                file.write(bytes(FILE_BYTES))
            # The second file is the least recently used one.
            age = 1000 * (5 - number) if number != 2 else 10000
            os.utime(file.name, (time.time() - age,) * 2)
        server = self.start("--debuginfod", debug_files.url, "--debuginfod-cache", "1MiB")
        self.assertEqual(server.metrics()["profd_debuginfod_cache_bytes"], 3 * FILE_BYTES)
        process, build_id = self.program(debug_files)
        self.wait_lines(server, process)
        names, size = self.cached()
        self.assertEqual(names, {f"{1:040x}", f"{3:040x}", build_id})
        self.assertLessEqual(size, CACHE_BYTES)
        metrics = server.metrics()
        self.assertEqual(metrics["profd_debuginfod_cache_evicted_total"], 1)
        self.assertEqual(metrics["profd_debuginfod_cache_bytes"], size)
        self.assertEqual(metrics["profd_debuginfod_cache_files"], 3)
