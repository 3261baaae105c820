# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The package on a machine with systemd: what its installation starts, which users profd answers, and what its removal leaves."""

import json
import os
import re
import tempfile
import unittest

from heap_runs import until
from machine import BUILD, VERSION, Machine, package, run
from profile_pb import Profile

SOCKET = "/run/profd/profd.sock"
OTHER_SOCKET = "/run/profd.sock"  # to which systemd binds profd.socket
SETTINGS = "/etc/profd/profd.conf"
CACHE = "/var/cache/profd"
LOOPBACK = "http://127.0.0.1:9090"
CAPABILITIES = {"bpf": 39, "perfmon": 38, "sys_ptrace": 19, "dac_read_search": 2, "syslog": 34, "checkpoint_restore": 40}
MAX_EXPOSURE = 3.0  # of `systemd-analyze security`, which calls values up to 4.9 OK and 10 the worst
# Files that other programs write while packages are installed and removed.
OTHERS = re.compile(r"/(var/(lib/(dpkg|apt|systemd)|cache/(apt|debconf|ldconfig)|log)|run|tmp|root)(/|$)|"
                    r"/etc/((passwd|group|shadow|gshadow)-?|\.pwd\.lock|ld\.so\.cache)$")


class Lint(unittest.TestCase):
    def test_lintian(self):
        run("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs",
            package())


class PackageTest(unittest.TestCase):
    """One machine for all tests of a class. Each test leaves profd running."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine()
        cls.addClassCleanup(cls.machine.stop)
        cls.machine.run("useradd", "--create-home", "stranger")
        cls.prepare()

    def curl(self, *words, user="root"):
        return self.machine.run("curl", "--silent", "--show-error", *words, user=user, check=False)

    def status(self, *words, user="root"):
        """Returns the HTTP status that the user gets, or curl's message where there is none."""
        done = self.curl("--output", "/dev/null", "--write-out", "%{http_code}", *words, user=user)
        return int(done.stdout) if done.returncode == 0 else done.stderr.decode()

    def check_answers(self):
        self.assertEqual(self.machine.unit("ActiveState", "SubState"), ["active", "running"])
        self.assertEqual(self.status(LOOPBACK + "/healthz"), 200)
        self.assertEqual(self.status("--unix-socket", SOCKET, "http://profd/healthz"), 200)


class Installed(PackageTest):
    @classmethod
    def prepare(cls):
        cls.machine.install(package())
        cls.machine.run("useradd", "--create-home", "--groups", "profd", "member")
        cls.machine.run("systemd-run", "--unit=busy", "sh", "-c", "while :; do :; done")

    def test_started_by_installing(self):
        self.check_answers()
        self.assertEqual(self.machine.unit("UnitFileState", "Result", "NRestarts"), ["enabled", "success", "0"])

    def test_level_of_perf_events(self):
        """The package lowers the level to the highest that profd can work with. It leaves a level alone that is not higher,
        or that the administrator has set."""
        level, own = "/root/paranoid", "/etc/sysctl.d/99-own.conf"
        self.addCleanup(self.machine.run, "rm", "-f", level, own)
        for found, set_to, left in (("4", None, "2"), ("3", None, "2"), ("2", None, "2"), ("1", None, "1"), ("-1", None, "-1"),
                                    ("3", "3", "3")):
            with self.subTest(found=found, set_to=set_to):
                self.machine.write(level, found + "\n")
                if set_to:
                    self.machine.write(own, f"kernel.perf_event_paranoid = {set_to}\n")
                # A file is mounted in place of the sysctl, which is the host's.
                self.machine.run("unshare", "-m", "sh", "-c", f"mount --bind {level} /proc/sys/kernel/perf_event_paranoid && "
                                 "/var/lib/dpkg/info/profd.postinst configure")
                self.assertEqual(self.machine.read(level).strip(), left)

    def test_privileges(self):
        """profd runs as its own user and has no capability but those in its unit."""
        pid, = self.machine.unit("MainPID")
        status = self.machine.read_process(pid, "status")
        number = self.machine.text("id", "-u", "profd")
        self.assertEqual(re.search(r"^Uid:\s+(.*)$", status, re.M).group(1).split(), [number] * 4)
        for kind in ("Eff", "Prm", "Bnd"):
            has = int(re.search(rf"^Cap{kind}:\s+(\w+)$", status, re.M).group(1), 16)
            self.assertEqual(has & ~sum(1 << number for number in CAPABILITIES.values()), 0, kind)

    def test_exposure(self):
        said = self.machine.text("systemd-analyze", "security", "--no-pager", "profd.service")
        exposure = float(re.search(r"Overall exposure level for profd.service: ([\d.]+)", said).group(1))
        self.assertLessEqual(exposure, MAX_EXPOSURE, said)

    def check_profile(self, *words):
        answer = self.curl("--fail", *words)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        profile = Profile(answer.stdout)
        self.assertGreater(profile.total(), 0)
        # The unit's hardening could hide the kernel's names without an error.
        names = {name for sample in profile.samples for name in sample.names}
        kernel = {name for name in names if re.fullmatch(r"(do_syscall_64|entry_SYSCALL_64\w*|asm_\w+|schedule|el0\w*|ret_from_fork\w*)", name)}
        self.assertTrue(kernel, sorted(names))

    def test_profile_over_socket(self):
        self.check_profile("--unix-socket", SOCKET, "http://profd/profile?seconds=3")

    def test_profile_over_loopback(self):
        self.check_profile(LOOPBACK + "/profile?seconds=3")

    def test_who_is_answered(self):
        self.assertIn("Permission denied", self.curl("-v", "--unix-socket", SOCKET, "http://profd/healthz", user="stranger").stderr.decode())
        self.assertEqual(self.status(LOOPBACK + "/healthz", user="stranger"), 403)
        self.assertEqual(self.status("--unix-socket", SOCKET, "http://profd/healthz", user="member"), 200)
        self.assertEqual(self.status(LOOPBACK + "/healthz", user="member"), 200)

    def history_bytes(self):
        status = json.loads(self.curl("--fail", LOOPBACK + "/status").stdout)
        return sum(kind["bytes_max"] for kind in status["recorder"].values())

    def test_reload(self):
        before, before_bytes = self.machine.unit("MainPID"), self.history_bytes()
        self.addCleanup(self.machine.write, SETTINGS, self.machine.read(SETTINGS))
        self.machine.write(SETTINGS, "\nhistory-memory = 32MiB\n", "a")  # half of the default of 64MiB
        self.machine.run("profd", "config", "check")
        self.machine.run("systemctl", "reload", "profd")
        self.assertTrue(until(lambda: self.history_bytes() == before_bytes / 2), self.history_bytes())
        self.assertEqual(self.machine.unit("MainPID"), before)

    def test_restart(self):
        before = self.machine.unit("InvocationID")
        self.machine.run("systemctl", "restart", "profd")
        self.check_answers()
        self.assertNotEqual(self.machine.unit("InvocationID"), before)

    def test_killed(self):
        pid, restarts = self.machine.unit("MainPID", "NRestarts")
        self.machine.run("kill", "-KILL", pid)
        until(lambda: self.machine.unit("NRestarts", "ActiveState") == [str(int(restarts) + 1), "active"])
        self.check_answers()
        self.assertNotEqual(self.machine.unit("MainPID"), [pid])

    def test_comes_up_with_the_machine(self):
        before = self.machine.unit("InvocationID")
        self.machine.reboot()
        self.check_answers()
        self.assertNotEqual(self.machine.unit("InvocationID"), before)
        self.machine.run("systemd-run", "--unit=busy", "sh", "-c", "while :; do :; done")


class Life(PackageTest):
    """The life of a package in order: from a machine without it to a machine without it."""

    @classmethod
    def prepare(cls):
        # The dependencies come first, because the package's removal leaves them installed.
        cls.machine.run("apt-get", "-y", "--no-install-recommends", "satisfy",
                        run("dpkg-deb", "--field", package(), "Depends").stdout.decode().strip())

    def next_version(self, folder):
        """Makes the same package with a higher version; returns its path."""
        tree, path = os.path.join(folder, "tree"), os.path.join(folder, "next.deb")
        run("dpkg-deb", "--raw-extract", package(), tree)
        control = os.path.join(tree, "DEBIAN", "control")
        with open(control, encoding="utf-8") as file:
            text = file.read()
        with open(control, "w", encoding="utf-8") as file:
            file.write(text.replace(f"\nVersion: {VERSION}\n", f"\nVersion: {VERSION}+next\n"))
        run("dpkg-deb", "--root-owner-group", "--build", tree, path)
        return path

    def paths(self):
        listed = self.machine.text("find", "/", "-xdev", "-printf", "%p\\n")
        return {path for path in listed.splitlines() if not OTHERS.match(path)}

    def test_life(self):
        before = self.paths()
        self.machine.install(package())
        self.check_answers()
        self.machine.write(SETTINGS, "\nhistory = 5m\n", "a")
        settings = self.machine.read(SETTINGS)
        self.machine.write(CACHE + "/downloaded", "debug information")
        first, = self.machine.unit("InvocationID")

        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            self.machine.install(self.next_version(folder))
        self.assertEqual(self.machine.text("dpkg-query", "-W", "-f", "${Version}", "profd"), VERSION + "+next")
        self.check_answers()
        self.assertNotEqual(self.machine.unit("InvocationID"), [first], "not restarted")
        self.assertEqual(self.machine.read(SETTINGS), settings)
        self.assertEqual(self.machine.read(CACHE + "/downloaded"), "debug information")

        # The socket unit does not start while the service runs.
        self.machine.run("systemctl", "stop", "profd.service")
        self.machine.run("systemctl", "start", "profd.socket", "profd.service")
        self.assertEqual(self.status("--unix-socket", OTHER_SOCKET, "http://profd/healthz"), 200)
        self.machine.run("apt-get", "-y", "remove", "profd")
        self.assertEqual(self.machine.unit("ActiveState"), ["inactive"])
        self.assertEqual(self.machine.run("test", "-e", OTHER_SOCKET, check=False).returncode, 1)
        self.assertEqual(self.machine.read(SETTINGS), settings)
        self.assertIn("/var/cache/profd/downloaded", self.paths() - before)

        self.machine.run("apt-get", "-y", "purge", "profd")
        self.assertEqual(self.paths() - before, set())
        self.assertEqual(self.machine.unit("LoadState"), ["not-found"])
        self.assertEqual(self.machine.text("ps", "-u", "profd", "-o", "args=", check=False), "")
        self.assertEqual(self.machine.run("pgrep", "-x", "profd", check=False).stdout, b"")
        self.assertFalse(os.path.exists(self.machine.root + "/run/profd"))
