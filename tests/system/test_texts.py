# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Texts made from the tables of settings and commands: the manual pages as man shows them, the shells' completions, the sample
file, and where `make install` puts them. The truth is the output of profd's --help and what profd accepts."""

import glob
import os
import re
import subprocess
import tempfile
import unittest

import shells
from daemon import BUILD, PROFD, ROOT
from shells import PACKAGING

BESIDE = True
PAGES = ("profd.1", "profd.8", "profd.conf.5", "profd-http.7", "profd-profiles.7", "profd-security.7")


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
                          env={"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C.UTF-8", **environment})
    return done.returncode, done.stdout, done.stderr


def said(*words):
    status, out, errors = run(PROFD, *words)
    assert status == 0, errors
    return out


def page(name):
    """Returns the page as man shows it, without wrapped lines."""
    status, out, errors = run("man", "-l", os.path.join(PACKAGING, name), MANWIDTH="1000")
    assert status == 0, errors
    return out


def in_sources(pattern, *paths):
    """Returns all matches in these source files."""
    found = []
    for path in paths:
        for name in glob.glob(os.path.join(ROOT, path)):
            with open(name, encoding="utf-8") as file:
                found += re.findall(pattern, file.read(), re.M)
    return found


class Told(unittest.TestCase):
    """The commands, options and settings that --help lists."""

    @classmethod
    def setUpClass(cls):
        text = said("--help")
        cls.commands = re.findall(r"profd \[OPTION\.\.\.\] (.+)", text)
        cls.options = set(re.findall(r"^ +(?:-., +)?--([a-z-]+)", text, re.M))
        cls.settings = re.findall(r"^ +(?:-., +)?--([a-z-]+)", text[text.index(" Settings:"):text.index(" Other options:")], re.M)
        cls.shown = dict(re.findall(r"^([a-z-]+) =(?: (.*))?$", said("config", "show", "--config", "/dev/null"), re.M))


class Help(Told):
    def test_is_understood(self):
        self.assertLessEqual({"serve", "config check", "config show"}, set(self.commands))
        self.assertLessEqual({"listen", "freq", "verbose"}, set(self.settings))
        self.assertLessEqual({*self.settings, "config", "help", "version"}, self.options)
        self.assertLessEqual(set(self.shown), set(self.settings))


class Pages(Told):
    def test_nothing_is_wrong_with_them(self):
        for name in PAGES:
            with self.subTest(page=name):
                path = os.path.join(PACKAGING, name)
                self.assertEqual(run("man", "--warnings", "-l", path, MANWIDTH="80")[2], "")
                status, out, _ = run("lexgrog", path)
                self.assertEqual(status, 0)
                self.assertRegex(out, rf'"{re.escape(name[:-2])} - \w')
                self.assertNotRegex(page(name), "@[a-z-]+@")

    def test_every_option(self):
        for name, options in (("profd.8", self.options), ("profd.1", self.options - set(self.settings))):
            text = page(name)
            for option in options:
                with self.subTest(page=name, option=option):
                    self.assertRegex(text, rf"(?m)^ +(?:-., )?--{option}(?:=[^ ]+)?(?: |$)")

    def test_every_setting(self):
        text = page("profd.conf.5")
        for setting in self.settings:
            with self.subTest(setting=setting):
                told = re.search(rf"^ +{setting} = .+\n((?: {{10,}}.*\n)+)", text, re.M)
                self.assertIsNotNone(told)
                if self.shown.get(setting):
                    self.assertIn(f"The default is {self.shown[setting]}.", told.group(1))
                self.assertRegex(told.group(1), "A change (takes effect on reload|requires a restart)")

    def test_every_variable_that_the_daemon_reads(self):
        read = set()
        for path in glob.glob(f"{ROOT}/daemon/*.c") + glob.glob(f"{ROOT}/daemon/*/*.c"):
            # The library's variables are read in other programs.
            if "/daemon/preload/" not in path:
                with open(path, encoding="utf-8") as file:
                    read |= set(re.findall(r'\bgetenv\("(\w+)"\)', file.read()))
        self.assertLessEqual({"NOTIFY_SOCKET", "LISTEN_FDS"}, read)
        text = page("profd.8")
        told = text[text.index("\nENVIRONMENT\n"):text.index("\nFILES\n")]
        for name in sorted(read):
            with self.subTest(variable=name):
                self.assertRegex(told, rf"(?m)^ +(?:\w+, )*{name}\b")

    def test_every_endpoint_and_parameter(self):
        endpoints = set(in_sources(r'^\t\{"(/[^"*]*)", handle_', "daemon/api/routes.c"))
        parameters = set(in_sources(r'(?:^\t\{|PARAMETER\()"([a-z]+)",', "daemon/api/*.c", "daemon/api/*.h", "daemon/views/*.c"))
        self.assertLessEqual({"/", "/profile", "/heap"}, endpoints)
        self.assertLessEqual({"seconds", "leaks", "format", "step", "cmdline"}, parameters)
        text = page("profd-http.7")
        for told in endpoints:
            with self.subTest(endpoint=told):
                self.assertRegex(text, rf"(?<![\w/]){told}(?![\w/])")
        for told in parameters:
            with self.subTest(parameter=told):
                self.assertRegex(text, rf"\b{told}=")

    def test_every_kind_of_profile(self):
        kinds = in_sources(r"\bKIND\((\w+), ", "bpf/tables.h")
        self.assertIn("cpu", kinds)
        text = page("profd-profiles.7")
        for kind in kinds:
            with self.subTest(kind=kind):
                self.assertRegex(text, rf"(?m)^ +{kind}\b")

    def test_every_command(self):
        text = page("profd.1")
        for command in self.commands:
            with self.subTest(command=command):
                self.assertRegex(text, rf"(?m)^ +profd {command}\n {{10,}}\w")


class Shells(Told):
    def offered(self, line, expected):
        for shell in (shells.bash, shells.zsh, shells.fish):
            with self.subTest(shell=shell.__name__, line=line):
                self.assertEqual({word.rstrip("=") for word in shell(line)}, expected)

    def test_every_command(self):
        for start in {""} | {command.rpartition(" ")[0] for command in self.commands}:
            behind = start + " " if start else ""
            self.offered(f"profd {behind}", {command[len(behind):].split()[0] for command in self.commands
                                             if command.startswith(behind)})

    def test_every_option(self):
        options = {f"--{option}" for option in self.options}
        self.offered("profd --", options)
        self.offered("profd config show --histo", {option for option in options if option.startswith("--histo")})

    def test_a_value_is_no_command(self):
        for option in ("-f 19", "--freq=19"):
            self.offered(f"profd {option} config sh", {"show"})
        self.offered("profd --freq ", set())

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "some.conf"), "w", encoding="utf-8"):
                pass
            for option in ("--config=", "-c "):
                for shell in (shells.bash, shells.zsh, shells.fish):
                    with self.subTest(shell=shell.__name__, option=option):
                        # zsh also offers the folders of the path.
                        self.assertIn("some.conf", map(os.path.basename, shell(f"profd {option}{folder}/so")))


class Sample(Told):
    def test_as_it_is_and_with_everything_in_it(self):
        sample = os.path.join(PACKAGING, "profd.conf")
        with open(sample, encoding="utf-8") as file:
            text = file.read()
        said("config", "check", "--config", sample)
        everything, count = re.subn(r"(?m)^#(?=[a-z-]+ =)", "", text)
        self.assertEqual(count, len(self.settings))
        for setting in self.settings:
            self.assertRegex(everything, rf"(?m)^{setting} =")
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(everything)
            file.flush()
            said("config", "check", "--config", file.name)
            nothing = said("config", "show", "--config", "/dev/null")
            for path in (sample, file.name):
                self.assertEqual(said("config", "show", "--config", path), nothing)


class Install(unittest.TestCase):
    def test_where_they_are_looked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, errors = run("make", "-s", f"BUILD={os.path.relpath(BUILD, ROOT)}", "install", f"DESTDIR={folder}",
                                    "PREFIX=/usr", "ZSH_COMPLETIONS=/usr/share/zsh/vendor-completions")
            self.assertEqual((status, errors), (0, ""))
            for path in ("man/man1/profd.1", "man/man5/profd.conf.5", "man/man7/profd-http.7", "man/man7/profd-profiles.7",
                         "man/man7/profd-security.7", "man/man8/profd.8", "doc/profd/profd.conf", "doc/profd/README.md",
                         "bash-completion/completions/profd", "zsh/vendor-completions/_profd",
                         "fish/vendor_completions.d/profd.fish"):
                with self.subTest(path=path):
                    self.assertGreater(os.path.getsize(os.path.join(folder, "usr/share", path)), 0)
            self.assertIn("profd.conf", run("man", "-M", os.path.join(folder, "usr/share/man"), "-w", "5", "profd.conf")[1])


if __name__ == "__main__":
    unittest.main()
