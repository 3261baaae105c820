#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares the commands that the Makefile, scripts and tests call with the packages that deps.sh installs.

tests/lint/commands says which package has a command. A command that is not in it, or whose package deps.sh does not install,
is an error: it would be missing on most machines but the author's. tests/bench is left out: it looks for the tools that it
compares with, and skips those that are missing.
"""

import ast
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import shell_words  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "commands")
DISTRIBUTIONS = ("debian", "fedora")
BUILTINS = set("""! . : [ break case cd command continue declare do done echo elif else esac eval exec exit export false fi for function
    getopts hash if in kill let local mapfile printf pwd read readonly return set shift source test then time trap true type ulimit
    umask unset until wait while { }""".split())
# Functions whose first argument is a command, as a list or as words.
CALLERS = {"run", "Popen", "check_call", "check_output", "call", "which", "_ask"}
MODULES = {"subprocess", "shutil"}
# Commands whose words contain another command.
RUNNERS = {"chroot", "env", "nice", "nsenter", "prlimit", "setpriv", "sh", "sudo", "unshare"}
NAME = re.compile(r"[a-z][a-z0-9+_.-]*\Z")


def table():
    """Returns command -> {distribution: package}."""
    rows = {}
    with open(TABLE, encoding="ascii") as file:
        for line in file:
            words = line.partition("#")[0].split()
            if words:
                rows[words[0]] = dict(zip(DISTRIBUTIONS, words[1:]))
    return rows


def installed(distribution, purpose):
    """Returns the packages that deps.sh installs where there are none, including those for the given purpose."""
    names = set()
    for words in ([], [purpose]) if purpose else ([],):
        names.update(subprocess.run([os.path.join(HERE, "deps.sh"), "--list", distribution, *words], check=True,
                                    capture_output=True, text=True).stdout.split())
    return names


def purpose_of(path):
    return "package" if path.startswith(("packaging/", "tests/package/", "tests/bare/")) else ""


def strings(node, known):
    """Returns the words of a list that are constants, and None for the others. In an f-string a "$" stands for each value."""
    if isinstance(node, ast.Starred):
        return strings(node.value, known)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [word for element in node.elts for word in strings(element, known) or [None]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (strings(node.left, known) or [None]) + (strings(node.right, known) or [None])
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else "$" for part in node.values)]
    name = getattr(node, "id", getattr(node, "attr", None))
    return [known[name]] if name in known else None


def of_words(words, commands):
    """Adds the command of a list of words, and the commands that its words contain."""
    first = words[0] if words else None
    if not first:
        return
    if NAME.match(os.path.basename(first)) and ("/" not in first or first.startswith(("/bin/", "/sbin/", "/usr/"))):
        commands.add(os.path.basename(first))
    if os.path.basename(first) in RUNNERS:
        for at, word in enumerate(words[1:], 1):
            if word == "-c" and words[at + 1:at + 2] not in ([], [None]):
                commands.update(shell_words.calls(words[at + 1]))
            elif word in RUNNERS:
                of_words(words[at:], commands)
                break


def of_python(text):
    tree = ast.parse(text)
    known, commands = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.JoinedStr)):
            words = strings(node.value, {})
            known.update({target.id: words[0] for target in node.targets if isinstance(target, ast.Name) and words})
    lists = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple, ast.BinOp)):
            for target in node.targets:
                lists.setdefault(getattr(target, "id", getattr(target, "attr", None)), []).append(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple) and any(
                getattr(call, "attr", "") == "which" for call in ast.walk(node)):
            commands.update(element.value for element in node.iter.elts if isinstance(element, ast.Constant))
        if isinstance(node, (ast.List, ast.Tuple)):
            words = strings(node, known)
            if len(words) > 1 and words[0] in RUNNERS and str(words[1]).startswith("-"):
                of_words(words, commands)
        if not isinstance(node, ast.Call) or not node.args:
            continue
        of_module = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in MODULES
        if getattr(node.func, "id", "") not in CALLERS and not (of_module and node.func.attr in CALLERS):
            continue
        first = node.args[0]
        if isinstance(first, (ast.List, ast.Tuple, ast.BinOp)):
            of_words(strings(first, known), commands)
        elif isinstance(first, ast.Constant) and isinstance(first.value, str):
            of_words([word for argument in node.args for word in strings(argument, known) or [None]], commands)
        else:
            for value in lists.get(getattr(first, "id", None), []):
                of_words(strings(value, known), commands)
    return commands


def of_makefile(text):
    """Returns the commands of recipes and of $(shell), and the compilers that the Makefile chooses by name."""
    commands = set()
    text = text.replace("\\\n", " ")
    lines = re.findall(r"(?m)^\t[@+-]*(.*)$", text) + re.findall(r"\$\(shell ([^()]*(?:\([^()]*\)[^()]*)*)\)", text)
    choices = re.findall(r"\$\(if [^,]*,([a-z][a-z-]*),([a-z][a-z-]*)\) -", text)
    linked = re.findall(r"\$\(call stacks_linked,[^,]*,[^,]*,([a-z][^\s)]*)", text)
    for line in lines:
        line = re.sub(r"\$\((Q|call [^()]*)\)", "", line)
        line = line.replace("$(MAKE)", "make").replace("$(CC)", "gcc").replace("$(CLANG)", "clang")
        for _ in range(4):  # calls may be nested
            line = re.sub(r"\$\([^()]*\)", "MADE", line)
        commands |= shell_words.calls(line.replace("$$", "$").replace("$@", "MADE").replace("$<", "MADE"))
    return {name for name in commands | {word for pair in choices for word in pair} | set(linked) if not name.startswith("-")}


def called():
    """Yields (path, commands that the file calls)."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.sh", "*.py", "Makefile", ".ci/run"],
                            check=True, capture_output=True, text=True, cwd=os.path.join(HERE, "../.."))
    for path in sorted(set(listed.stdout.split())):
        # The guests of tests/kernels do not run on this system.
        if path.startswith("tests/bench/") or path == "tests/kernels/guest.sh" or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        read = of_python if path.endswith(".py") else of_makefile if path == "Makefile" else shell_words.calls
        names = {os.path.basename(name) for name in read(text) if "/" not in name or name.startswith(("/bin/", "/sbin/", "/usr/"))}
        yield path, names - BUILTINS


def main():
    os.chdir(os.path.join(HERE, "../.."))
    rows, wrong = table(), []
    has = {(distribution, purpose): installed(distribution, purpose) for distribution in DISTRIBUTIONS for purpose in ("", "package")}
    used = set()
    for path, names in called():
        used |= names
        for name in sorted(names):
            if name not in rows:
                wrong.append(f"{path}: {name} is not in tests/lint/commands")
                continue
            for distribution, package in rows[name].items():
                if package not in ("-", "base") and package not in has[distribution, purpose_of(path)]:
                    wrong.append(f"{path}: {name} is in {package}, which deps.sh does not install on {distribution}")
    wrong += [f"tests/lint/commands: nobody calls {name}" for name in sorted(set(rows) - used)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
