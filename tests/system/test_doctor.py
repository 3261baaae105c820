# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The report of `profd doctor` about this host agrees with other tools, with what a test takes away from it, and with what the
daemon then does.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from daemon import PROFD, Daemon, free_port, shared
from workload import Workload

LANE = "clients"
STATES = ("good", "limited", "missing", "unknown")
CANNOT, USAGE = 1, 64
NEEDED = ("bpf", "perfmon")
OTHERS = ("sys_ptrace", "dac_read_search", "syslog", "checkpoint_restore")
# Capabilities that the kernel accepts in place of others.
ADMIN = ("sys_admin",)


def without(*capabilities):
    dropped = ",".join("-" + name for name in capabilities)
    return ["setpriv", "--bounding-set", dropped, "--inh-caps", dropped]


def doctor(*options, through=(), program=PROFD, listen=None):
    listen = listen or f"127.0.0.1:{free_port()}"
    argv = [*through, program, "doctor", "--config", "/dev/null", "--listen", listen, *options]
    return subprocess.run(argv, capture_output=True, timeout=60, check=False)


class Found:
    """The doctor's report: the state, the value and the whole line of each check."""

    def __init__(self, done):
        self.status, self.states, self.lines = done.returncode, {}, {}
        if done.stderr:
            raise AssertionError(done.stderr)
        for line in done.stdout.decode().splitlines():
            state, check = line[:8].rstrip(), line[9:27].rstrip()
            if state not in STATES or not check:
                raise AssertionError(f"not a finding: {line!r}")
            self.states[check], self.lines[check] = state, line[28:]


def bpftool(*words):
    return json.loads(subprocess.run(["bpftool", "-j", *words], check=True, capture_output=True).stdout)


class Here(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = Found(doctor())

    def test_profd_can_work(self):
        self.assertEqual(self.found.status, 0, self.found.lines)
        self.assertNotIn("missing", self.found.states.values(), self.found.lines)
        self.assertEqual(self.found.states["BPF programs"], "good")

    def test_kernel(self):
        host = os.uname()
        self.assertEqual(self.found.lines["kernel"], f"{host.sysname} {host.release} {host.machine}")
        self.assertEqual(self.found.states["BTF"] == "good", os.access("/sys/kernel/btf/vmlinux", os.R_OK))

    def test_timer_is_the_daemons(self):
        event = shared().get("/status").json()["event"]
        self.assertIn(f"CPU time: {event} on {os.cpu_count()} CPUs", self.found.lines["type=cpu"])
        self.assertEqual(self.found.states["type=cpu"], "good" if event == "cycles" else "limited")

    def test_kinds_are_the_daemons(self):
        for source in shared().get("/status").json()["sources"]:
            # The first are on while a process has CUDA's driver. The doctor tries what a setting has switched off, too.
            if source["name"].startswith("gpu_") or source["why"].startswith("switched off by"):
                self.assertEqual(self.found.states["type=" + source["name"]], "good", source)
                continue
            self.assertEqual(self.found.states["type=" + source["name"]] != "missing", source["on"], source)

    def test_types_are_those_that_run(self):
        """The doctor reports exactly the types in use. Heap profiles, which are loaded on demand, complete them; the one for
        watching GPUs may be missing, and a program that runs once is no longer there."""
        with Workload("spin_two") as workload:
            self.assertIn(shared().get(f"/heap?pid={workload.pid}&seconds=1&force=1").status, (200, 422))
        ids = shared().bpf_ids()
        for kind, check in (("prog", "BPF program types"), ("map", "BPF map types")):
            wanted = set(self.found.lines[check].split(", "))
            types = {entry["type"] for entry in bpftool(kind, "list") if entry["id"] in ids[kind]}
            self.assertEqual(wanted - types - {"lru_hash", "syscall"}, set())
            self.assertEqual(types - wanted, set())

    def test_helpers_are_known_to_bpftool(self):
        probed = bpftool("feature", "probe", "kernel", "full")["helpers"]
        there = {name for names in probed.values() for name in names}
        used = set(self.found.lines["BPF helpers"].split(", "))
        self.assertLessEqual(used, there)
        self.assertLessEqual({"bpf_loop", "bpf_map_lookup_elem", "bpf_ringbuf_output"}, used)

    def test_control_groups(self):
        with open("/proc/mounts", encoding="utf-8") as mounts:
            fields = [line.split() for line in mounts]
        first = any(kind == "cgroup" and "memory" in options.split(",") for _, _, kind, options, *_ in fields)
        second = any(kind == "cgroup2" for _, _, kind, *_ in fields)
        version = "version 1" if first else "version 2" if second else "no control groups"
        self.assertIn(version, self.found.lines["control groups"])

    def test_json_says_the_same(self):
        done = doctor("--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        said = {}
        for entry in json.loads(done.stdout):
            self.assertEqual(list(entry), ["check", "state", "value", "fix"])
            self.assertEqual(entry["fix"] is None, entry["state"] == "good", entry)
            said[entry["check"]] = entry["value"] + (". " + entry["fix"] if entry["fix"] else "")
        self.assertEqual(*[{check: self.lasting(text) for check, text in texts.items()} for texts in (said, self.found.lines)])

    @staticmethod
    def lasting(text):
        """Removes from a line what differs between two runs: counts, times, and which programs run."""
        return re.sub(r"^.* libcuda\.so\.N mapped.*", "", re.sub(r"\d+", "N", text))

    def test_usage(self):
        done = doctor("--json", "again")
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        done = subprocess.run([PROFD, "serve", "--json"], capture_output=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (USAGE, b"", 1))


class Less(unittest.TestCase):
    """Reports of a host from which something is taken away."""

    @classmethod
    def setUpClass(cls):
        # The copy is in a folder where every user may run it.
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        os.chmod(cls.folder, 0o755)
        cls.program = shutil.copy(PROFD, cls.folder)
        cls.all = set(Found(doctor()).states)

    def test_nobody(self):
        found = Found(doctor(through=["setpriv", "--reuid", "65534", "--clear-groups"], program=self.program))
        self.assertEqual((found.status, set(found.states)), (CANNOT, self.all))
        self.assertEqual((found.states["capabilities"], found.states["BPF programs"]), ("missing", "unknown"))
        for name in NEEDED + OTHERS:
            self.assertIn("CAP_" + name.upper(), found.lines["capabilities"])
        self.assertIn("cannot tell without CAP_BPF", found.lines["BPF programs"])
        self.assertEqual((found.states["kernel"], found.states["BTF"]), ("good", "good"))

    def test_it_says_what_the_daemon_does(self):
        """Without each capability in turn, the doctor's status is 0 where the daemon starts, else not."""
        for name in NEEDED + OTHERS:
            with self.subTest(without=name):
                through = without(name, *ADMIN)
                found = Found(doctor(through=through))
                self.assertEqual(found.states["capabilities"], "missing" if name in NEEDED else "limited")
                self.assertIn("CAP_" + name.upper(), found.lines["capabilities"])
                self.assertEqual(found.status, CANNOT if name in NEEDED else 0, found.lines)
                try:
                    with Daemon(through=through) as server:
                        hidden = any("names are hidden" in c for c in server.profile("last=1s").comments)
                    self.assertEqual((found.status, found.states["kernel names"] != "good"), (0, hidden))
                except AssertionError as failed:
                    self.assertIn("exited 1", str(failed))
                    self.assertEqual(found.status, CANNOT)

    def test_paranoid_kernel(self):
        """A level above the kernel's own values is reported as a fault only where perf events fail."""
        with tempfile.NamedTemporaryFile("w") as level:
            level.write("3\n")
            level.flush()
            shown = ["unshare", "-m", "sh", "-c",
                     f'mount --bind {level.name} /proc/sys/kernel/perf_event_paranoid && exec "$@"', "sh"]
            found = Found(doctor(through=shown))
            self.assertEqual((found.status, found.states["perf events"]), (0, "good"), found.lines)
            found = Found(doctor(through=[*shown, *without("perfmon", *ADMIN)]))
            self.assertEqual((found.status, found.states["perf events"]), (CANNOT, "missing"), found.lines)
            self.assertIn("sysctl kernel.perf_event_paranoid=2", found.lines["perf events"])

    def test_without_btf(self):
        with tempfile.TemporaryDirectory() as empty:
            hide = ["unshare", "-m", "sh", "-c", f'mount --bind {empty} /sys/kernel/btf && exec "$@"', "sh"]
            found = Found(doctor(through=hide))
        self.assertEqual((found.status, set(found.states)), (CANNOT, self.all))
        self.assertEqual((found.states["BTF"], found.states["BPF programs"]), ("missing", "missing"))
        # Checks that need no BTF still run.
        self.assertEqual(found.states["process events"], "good")

    def test_in_containers(self):
        for namespace, check, status in ((["-p", "-f", "--mount-proc"], "pid namespace", CANNOT),
                                         (["-U", "-r"], "capabilities", CANNOT),
                                         (["-T", "--monotonic", "1000"], "clocks", 0)):
            with self.subTest(namespace=namespace):
                if subprocess.run(["unshare", *namespace, "true"], capture_output=True, check=False).returncode:
                    self.skipTest(f"unshare {' '.join(namespace)} is not permitted here")
                found = Found(doctor(through=["unshare", *namespace]))
                self.assertEqual((found.status, found.states[check]), (status, "missing" if status else "limited"))

    def test_few_open_files(self):
        found = Found(doctor(through=["prlimit", "--nofile=512:512"]))
        self.assertEqual((found.status, found.states["open files"]), (0, "limited"))

    def test_addresses(self):
        port = free_port()
        with socket.create_server(("127.0.0.1", port)):
            server = shared()
            for address, status, state in ((f"127.0.0.1:{port}", CANNOT, "missing"),
                                           (f"127.0.0.1:{server.port}", 0, "limited"),
                                           (f"127.0.0.1:{free_port()}", 0, "good")):
                found = Found(doctor(listen=address))
                self.assertEqual((found.status, found.states["listen"]), (status, state), found.lines["listen"])

    def test_hostile_paths_and_nothing_left(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"unix:{folder}/\x1b[31m\nred\u202e"
            last = json.loads(doctor("--json", listen=path).stdout)[-1]
            self.assertEqual((last["check"], last["state"]), ("listen", "good"))
            self.assertNotRegex(last["value"], "[\x00-\x1f\x7f]")
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
