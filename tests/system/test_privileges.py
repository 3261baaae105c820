# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The privileges that the daemon drops after its start, in every thread, and its work, which goes on without them.

/proc/PID/task/TID/status says what a thread may do.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import unittest

from daemon import Daemon
from heap_runs import until
from profile_pb import Profile
from workload import Workload, workload_path

LANE = "readers"

# From linux/capability.h.
NUMBERS = {"dac_read_search": 2, "kill": 5, "setgid": 6, "setuid": 7, "setpcap": 8, "sys_ptrace": 19, "sys_admin": 21, "syslog": 34,
           "perfmon": 38, "bpf": 39, "checkpoint_restore": 40}
PARANOIA = "/proc/sys/kernel/perf_event_paranoid"
CHILDREN = {"setuid", "setgid", "setpcap", "kill"}  # root needs these to run reader processes as users without privileges
LATER = {"bpf", "perfmon", "sys_ptrace", "dac_read_search", "syslog", "checkpoint_restore"}
NOBODY = 65534
OTHER = 1


def names_of(word):
    """Returns the capabilities of a line of /proc/PID/status, with numbers for unexpected ones."""
    by_number = {number: name for name, number in NUMBERS.items()}
    bits = int(word, 16)
    return {by_number.get(bit, bit) for bit in range(64) if bits >> bit & 1}


def threads(pid):
    """Returns the kernel's status of each thread: {"CapEff": set, ..., "NoNewPrivs": "1", "Uid": "0 ..."}."""
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError):
            with open(f"/proc/{pid}/task/{tid}/status", encoding="ascii", errors="replace") as status:
                lines = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
            found.append({key: names_of(value) if key.startswith("Cap") else value for key, value in lines.items()})
    return found


def children(pid):
    """Returns the children of all threads of a process."""
    own = set()
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as file:
                own.update(map(int, file.read().split()))
    return own


class Mixin:
    """What works for every user that the daemon runs as."""

    through = ()
    reader = 2100000000  # the first user ID of a range that nothing else assigns; reader/user.h

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.settings = os.path.join(folder.name, "profd.conf")
        with open(cls.settings, "w", encoding="utf-8"):
            pass
        cls.profd = Daemon("--config", cls.settings, through=cls.through)
        cls.addClassCleanup(cls.profd.stop)
        os.mkdir(os.path.join(folder.name, "others"), 0o700)
        cls.truth = os.path.join(folder.name, "others", "truth")
        os.chown(os.path.dirname(cls.truth), OTHER, OTHER)
        # A copy, because the build folder may be where only root can enter, such as below /root.
        cls.sites = shutil.copy(workload_path("heap_sites"), folder.name)

    def test_every_thread_has_given_up_what_it_does_not_need(self):
        # A heap profile uses several lanes, so the threads of the pool exist afterwards.
        self.heap()
        self.assertGreater(len(threads(self.profd.pid)), 1)
        for thread in threads(self.profd.pid):
            given = {key: thread[key] for key in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd", "NoNewPrivs")}
            self.assertEqual(given, {"CapEff": self.left, "CapPrm": self.left, "CapInh": set(), "CapAmb": set(),
                                     "CapBnd": self.bounding, "NoNewPrivs": "1"})
        self.assertEqual(set(self.profd.get("/status").json()["capabilities"]), self.left)

    def test_what_it_starts_may_nothing(self):
        with Workload("cpubound", 30) as workload:
            self.assertIn("main", self.names(workload))
            self.assertTrue(children(self.profd.pid))
            # A child that has just been forked has the daemon's privileges until it drops them.
            nothing = (set(), "1", [str(self.reader)] * 4)
            self.assertTrue(until(lambda: (all_may := self.of_children()) and all(may == nothing for may in all_may)),
                            self.of_children())

    def of_children(self):
        """Returns the capabilities, NoNewPrivs and user IDs of each thread of the daemon's children."""
        found = []
        for child in children(self.profd.pid):
            with contextlib.suppress(FileNotFoundError):  # the child has ended
                found += [(set().union(*(thread[key] for key in ("CapPrm", "CapEff", "CapInh", "CapAmb"))),
                           thread["NoNewPrivs"], thread["Uid"].split()) for thread in threads(child)]
        return found

    def test_names_of_a_file_that_only_root_may_read(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(workload_path("cpubound"), folder)
            os.chmod(copy, 0o700)
            with Workload(copy, 30) as workload:
                self.assertIn("main", self.names(workload))

    def test_names_of_a_deleted_file_of_another_user(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(workload_path("cpubound"), folder)
            with Workload(copy, 30, uid=OTHER) as workload:
                shutil.rmtree(folder)
                os.mkdir(folder)
                self.assertIn("main", self.names(workload))

    def test_names_of_the_kernel(self):
        with Workload("syscalls", 30) as workload:
            # Half of its time is in these functions. getppid itself is so short that the samples may miss it.
            self.assertTrue({"do_syscall_64", "invoke_syscall"} & self.names(workload))

    def names(self, workload):
        return {name for sample in self.profd.named_profile(workload.pid).samples for name in sample.names}

    def test_a_heap_of_another_user(self):
        names = {name for sample in self.heap().samples for name in sample.names}
        self.assertLess({"main", "site_six"}, names)

    def heap(self):
        with Workload(self.sites, "sites", self.truth, 60, uid=OTHER) as workload:
            answer = self.profd.get(f"/heap?pid={workload.pid}&seconds=1&rate=1KiB&force=1")
        self.assertEqual(answer.status, 200, answer.body)
        return Profile(answer.body)

    def test_settings_are_read_again(self):
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write("verbose = yes\n")
        os.kill(self.profd.pid, signal.SIGHUP)
        self.assertTrue(until(lambda: "verbose is yes now" in self.profd.log()), self.profd.log())


def asked_of_root():
    """Returns what this kernel also needs with its current settings: see daemon/privileges.c."""
    with open(PARANOIA, encoding="ascii") as file:
        level = int(file.read())
    release = tuple(map(int, os.uname().release.split(".")[:2]))
    return {"sys_admin"} if level > 2 or release < (6, 10) else set()


class Root(Mixin, unittest.TestCase):
    left = LATER | CHILDREN | asked_of_root()
    bounding = left


class RootOfDistributions(unittest.TestCase):
    """Some distributions have levels that need CAP_SYS_ADMIN, which only root has. This kernel only stores such a level."""

    def test_it_is_kept(self):
        with open(PARANOIA, encoding="ascii") as file:
            before = file.read()
        self.addCleanup(self.write, before)
        self.write("4")
        with Daemon() as profd:
            left = set(profd.get("/status").json()["capabilities"])
        self.assertEqual(left, LATER | CHILDREN | {"sys_admin"})

    def write(self, level):
        with open(PARANOIA, "w", encoding="ascii") as file:
            file.write(level)


class RootWithLess(Mixin, unittest.TestCase):
    """User 0 with the capabilities of the unit, and none to change the user of a process."""

    through = ("setpriv", "--bounding-set=-all," + ",".join("+" + name for name in sorted(LATER)))
    left = LATER
    bounding = LATER
    reader = 0

    def test_it_says_so_once(self):
        self.assertEqual(self.profd.log().count("reader processes stay user 0"), 1)


class Unprivileged(Mixin, unittest.TestCase):
    """The daemon as the unit starts it: without root, and unable to change the user of a process."""

    reader = NOBODY

    given = ",".join("+" + name for name in sorted(LATER))
    through = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps=-all,{given}",
               f"--ambient-caps={given}", f"--bounding-set=-all,{given}")
    left = LATER
    # Only a process with CAP_SETPCAP may reduce its bounding set.
    bounding = LATER


if __name__ == "__main__":
    unittest.main()
