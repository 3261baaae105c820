# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files that change, or claim to be another file: no program gets names from another user's file, and no user takes the places
of others.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock

import elf_file
from daemon import BUILD, Daemon
from heap_runs import Heap, HeapWorkload, until
from hostile_runs import ATTACKER, NAME, NOBODY, Attack, Innocent, folder_of
from lacks import host_lacks
from workload import Workload, workload_path

BESIDE = LONG = True
LIBRARY = os.path.join(BUILD, "libprofd-heap.so")
TELLS = "profd-tells-"  # the prefix by which links_of() recognizes such files
COPIES = 41  # more than the number of files that profd attaches to


class HostileFiles(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(folder_of())
        self.server = self.stack.enter_context(Daemon())

    def path(self, name):
        return os.path.join(self.folder, name)

    def version(self, name, function, keep_id=False):
        """Makes a copy of victim, which uses all its CPU time in `function`."""
        data = elf_file.renamed_bytes(workload_path("victim"), NAME, function)
        if keep_id:
            with open(workload_path("victim"), "rb") as file:
                original = file.read()
            note = elf_file.sections(original)[elf_file.BUILD_ID]
            data[note.offset:note.offset + note.size] = original[note.offset:note.offset + note.size]
        path = elf_file.write_program(self.path(name), data)
        os.chown(path, ATTACKER, ATTACKER)
        return path

    def names(self, process, seconds=2):
        """Returns {victim's function: samples} of a process."""
        found = {}
        for sample in self.server.profile(f"seconds={seconds}&pid={process.pid}").samples:
            for name in sample.names:
                if name.startswith("victim_spins_"):
                    found[name] = found.get(name, 0) + sample.count
        return found

    def run_and_name(self, path):
        with Workload(path) as process:
            return self.names(process)

    def assert_only(self, names, function):
        self.assertEqual(set(names), {function}, names)

    def overwrite(self, target, source):
        """Overwrites the file as cp does: the inode stays the same, its contents change."""
        inode = os.stat(target).st_ino
        subprocess.run(["cp", source, target], check=True)
        self.assertEqual(os.stat(target).st_ino, inode)

    def test_the_same_inode_of_another_subvolume(self):
        """On btrfs, whose subvolumes anybody may make, maps files show the same numbers for both programs."""
        if not shutil.which("mkfs.btrfs") or "btrfs" not in pathlib.Path("/proc/filesystems").read_text(encoding="ascii"):
            host_lacks("btrfs")
            return
        self.server.stop()  # it would hold files of the file system open
        image, mounted = self.path("image"), self.path("btrfs")
        with open(image, "wb") as file:
            file.truncate(128 << 20)
        os.mkdir(mounted)
        subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "loop", image, mounted], check=True)
        self.stack.callback(subprocess.run, ["umount", "--lazy", mounted], check=True)
        paths, functions = {}, ("victim_spins_01", "victim_spins_02")
        for function in functions:
            folder = os.path.join(mounted, function)
            subprocess.run(["btrfs", "-q", "subvolume", "create", folder], check=True)
            paths[function] = shutil.copy(self.version(function, function), folder)
        self.assertEqual(len({os.stat(path).st_ino for path in paths.values()}), 1)
        with contextlib.ExitStack() as running:
            started = {function: running.enter_context(Workload(path)) for function, path in paths.items()}
            # They run already when the daemon starts, which reads their maps files.
            self.server = running.enter_context(Daemon())
            found = {function: self.names(process) for function, process in started.items()}
        for function in functions:
            self.assert_only(found[function], function)

    def test_overwritten_in_place(self):
        app = self.version("app", "victim_spins_01")
        self.assert_only(self.run_and_name(app), "victim_spins_01")
        self.overwrite(app, self.version("new", "victim_spins_02"))
        self.assert_only(self.run_and_name(app), "victim_spins_02")

    def test_overwritten_in_place_after_its_build_ran(self):
        """The deployed file is a copy of another file that the daemon knows."""
        built = self.version("built1", "victim_spins_01")
        self.assert_only(self.run_and_name(built), "victim_spins_01")
        app = self.path("app")
        shutil.copy(built, app)
        os.chown(app, ATTACKER, ATTACKER)
        self.assert_only(self.run_and_name(app), "victim_spins_01")
        self.overwrite(app, self.version("built2", "victim_spins_02"))
        self.assert_only(self.run_and_name(app), "victim_spins_02")

    def test_overwritten_with_its_old_times(self):
        """cp -p, rsync -t and touch can restore the modification time; the size is the same anyway."""
        app = self.version("app", "victim_spins_01")
        times = os.stat(app)
        self.assert_only(self.run_and_name(app), "victim_spins_01")
        self.overwrite(app, self.version("new", "victim_spins_02"))
        os.utime(app, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assert_only(self.run_and_name(app), "victim_spins_02")

    def test_a_forged_build_id(self):
        """Two files of one owner with the same build ID keep their own names, whichever runs first."""
        forged, innocent = self.version("forged", "victim_spins_03", True), self.version("innocent", "victim_spins_04", True)
        # The file also has another size, by bytes that no header mentions.
        with open(forged, "ab") as file:
            file.write(b"\0" * 4096)
        with Workload(forged) as first:
            self.assert_only(self.names(first), "victim_spins_03")
            with Workload(innocent) as second:
                self.assert_only(self.names(second), "victim_spins_04")
                self.assert_only(self.names(first), "victim_spins_03")

    def test_a_forged_build_id_in_a_container(self):
        """The container's root is the same user as the owner of the host's programs."""
        self.version("forged", "victim_spins_05", True)
        innocent = self.version("innocent", "victim_spins_06", True)
        for name in ("forged", "innocent"):
            os.chown(self.path(name), 0, 0)
        inside = ["unshare", "--mount", "sh", "-c",
                  f"mount -t tmpfs box {self.folder} && cp /proc/self/fd/3 {self.folder}/forged && exec {self.folder}/forged"]
        with open(self.path("forged"), "rb") as file:
            first = self.stack.enter_context(Contained(inside, file))
        self.assert_only(self.names(first), "victim_spins_05")
        with Workload(innocent) as second:
            self.assert_only(self.names(second), "victim_spins_06")

    def test_another_file_in_the_place_of_one(self):
        """A file that is swapped for another one of the same path gives names only to the process that maps it."""
        theirs = self.version("app", "victim_spins_08")
        os.chown(theirs, 0, 0)
        os.mkdir(self.path("his"))
        own = os.path.join(self.path("his"), "app")
        os.rename(self.version("new", "victim_spins_09"), own)
        with Attack("swapped", theirs, own):
            self.assert_only(self.run_and_name(theirs), "victim_spins_08")

    def test_each_process_is_shown_at_its_own_path(self):
        """Whoever maps a file first does not decide under which path others are shown that map it, too."""
        paths = [self.path("first"), self.path("second")]
        os.link(self.version("first", "victim_spins_03"), paths[1])
        with Workload(paths[0]) as first, Workload(paths[1]) as second:
            self.names(first)
            profile = self.server.profile("seconds=2")
            for process, path in zip((first, second), paths):
                files = {sample.mappings[0] for sample in profile.samples if sample.labels["pid"] == process.pid
                         and sample.names[0] == "victim_spins_03"}
                self.assertEqual(files, {path})

    def test_a_file_that_was_closed_is_opened_again(self):
        """Who maps a file first pays for it, and then maps so many others that profd closes it. Its names come back for the
        process of another user, which pays for it from then on."""
        path = self.version("app", "victim_spins_04")
        server = self.stack.enter_context(Daemon(through=["prlimit", "--nofile=4096"]))

        def named(process):
            names = {}
            for sample in server.profile(f"seconds=1&pid={process.pid}").samples:
                names[sample.names[0]] = names.get(sample.names[0], 0) + sample.count
            return 2 * names.get("victim_spins_04", 0) > sum(names.values()) > 0

        with Attack("maps", path), Workload(path, uid=NOBODY) as victim:
            self.assertTrue(until(lambda: named(victim), 20))
            os.kill(victim.pid, signal.SIGSTOP)  # a file that is sampled all the time would stay open
            evicted = server.metrics()["profd_objects_evicted_total"]
            with Attack("many_files", self.folder, 5000):
                self.assertTrue(until(lambda: server.metrics()["profd_objects_evicted_total"] > evicted + 1000, 60))
                os.kill(victim.pid, signal.SIGCONT)
                self.assertTrue(until(lambda: named(victim), 20))

    def named_on_overlay(self, *through):
        """Returns {victim's function: samples} of a program on an overlay that the command `through` may mount."""
        upper, lower, merged = layers = [self.path(name) for name in ("upper", "lower", "merged")]
        for layer in layers:
            os.makedirs(layer, exist_ok=True)
        os.chmod(shutil.copy(self.version("program", "victim_spins_07"), lower), 0o755)
        mount = f"mount -t overlay -o lowerdir={upper}:{lower} over {merged} && exec {merged}/program"
        process = self.stack.enter_context(Contained([*through, "sh", "-c", mount], subprocess.DEVNULL))
        return self.names(process)

    def test_overlays(self):
        """profd names programs on overlays, as containers have them. It does not read an overlay that a user mounted, because it
        may lie above a file system that the user serves, and hang."""
        self.assert_only(self.named_on_overlay("unshare", "--mount"), "victim_spins_07")
        user = ["setpriv", f"--reuid={ATTACKER}", f"--regid={ATTACKER}", "--clear-groups", "unshare", "--user", "--map-root-user", "--mount"]
        if subprocess.run([*user, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
            host_lacks("user namespaces for users")
            return
        self.assertEqual(self.named_on_overlay(*user), {})

    def told_itself(self, process):
        """Whether the process reports itself. For other processes /heap takes half a minute, which this does not wait for."""
        try:
            answer = self.server.get(f"/heap?pid={process.pid}", timeout=3)
        except OSError:
            return False
        return answer.status == 200 and "itself" in Heap(answer.body).comment("allocator=")

    def command_lines(self):
        """Returns ({pid: command line}, the seconds that it took)."""
        answer = self.server.get("/processes?cmdline=1")
        self.assertEqual(answer.status, 200, answer.text[:200])
        return {row["pid"]: row["cmdline"] for row in answer.json()}, answer.seconds

    def test_a_locked_memory_map_hides_only_its_user_s_command_lines(self):
        self.command_lines()
        with Attack("hung_fs", self.folder, ATTACKER, "lock", uid=0) as attack, Innocent(self.folder) as innocent:
            with open(f"/proc/{attack.pid}/task/{attack.pid}/children", encoding="ascii") as children:
                mapper = int(children.read().split()[0])
            self.assertTrue(until(lambda: {mapper, innocent.pid} <= self.command_lines()[0].keys()))
            for _ in range(3):
                lines, seconds = self.command_lines()
                self.assertIsNone(lines[mapper])
                self.assertIn("innocent", lines[innocent.pid])
                self.assertLess(seconds, 1)
        with Innocent(self.folder, uid=ATTACKER) as later:
            self.assertTrue(until(lambda: "innocent" in (self.command_lines()[0].get(later.pid) or "")))

    def test_places_for_files_that_tell(self):
        """Copies of the library that no program uses take no place from one in use, neither during nor after the attack."""
        self.server = self.stack.enter_context(Daemon("--user-probes=yes"))
        copies = [shutil.copy(LIBRARY, self.path(f"{TELLS}{number}.so")) for number in range(COPIES)]
        own = shutil.copy(LIBRARY, self.path(TELLS + "own.so"))
        for number, path in enumerate([*copies, own]):
            with open(path, "r+b") as file:
                data = bytearray(file.read())
                elf_file.renew_build_id(data)
                file.seek(0)
                file.write(data)
            os.chown(path, ATTACKER if number < COPIES else 0, 0)
        # A high rate, so that samples come soon.
        self.stack.enter_context(unittest.mock.patch.dict(os.environ, PROFD_HEAP_RATE="4KiB"))
        with Attack("maps", *copies):
            time.sleep(5)
            with HeapWorkload("sites", preload=own) as during:
                self.assertTrue(until(lambda: self.told_itself(during), 20), "not heard during the attack")
        late = shutil.copy(own, self.path(TELLS + "late.so"))
        with HeapWorkload("sites", preload=late) as after:
            self.assertTrue(until(lambda: self.told_itself(after), 30), "not heard after the attack")


class Contained(Workload):
    """A workload started by a command that execs it, with a file as descriptor 3."""

    def __init__(self, command, file):
        self.process = subprocess.Popen(["sh", "-c", 'exec 3<&0; exec "$@"', "sh", *command], stdin=file, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if line != "ready\n":
            raise AssertionError(f"{command} said {line!r}")


if __name__ == "__main__":
    unittest.main()
