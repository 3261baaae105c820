# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Trees of a Debian with hardly anything in it, made by debootstrap: what machines under systemd-nspawn are copied from."""

import os
import shutil
import subprocess

SUITE = "bookworm"
COMMAND_SECONDS = 300
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def run(*words, timeout=COMMAND_SECONDS, check=True, **options):
    """The command's output; with check, what it said is the message of its failure."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done


def make(path, packages):
    """Makes the tree, with those packages (separated by commas) and what is essential; nothing where it is there already."""
    if os.path.exists(path):
        return
    scratch = path + ".new"
    shutil.rmtree(scratch, ignore_errors=True)
    print(f"making {path}", flush=True)
    run("debootstrap", "--variant=minbase", f"--include={packages}", SUITE, scratch, timeout=1800)
    os.rename(scratch, path)


def copy(base, path):
    run("cp", "-a", "--reflink=auto", base, path)
