# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Minimal Debian trees made by debootstrap, from which the machines under systemd-nspawn are copied."""

import os
import shutil
import subprocess

SUITE = "bookworm"
COMMAND_SECONDS = 300
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def run(*words, timeout=COMMAND_SECONDS, check=True, **options):
    """Runs a command and returns the CompletedProcess; with check, a failure raises with its output as the message."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done


def make(path, packages):
    """Makes the tree with the essential packages and those given (separated by commas), unless it exists."""
    if os.path.exists(path):
        return
    scratch = path + ".new"
    shutil.rmtree(scratch, ignore_errors=True)
    print(f"making {path}", flush=True)
    run("debootstrap", "--variant=minbase", f"--include={packages}", SUITE, scratch, timeout=1800)
    os.rename(scratch, path)


def copy(base, path):
    run("cp", "-a", "--reflink=auto", base, path)
