#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the README's two commands on a machine that has nothing: `make run` until profd answers, then `make test`.

  make test-bare

Needs root, and a network that reaches Debian's and Python's packages. The output of both commands is printed. The last line
says how long they took from the start of the first command, whether both succeeded, and whether that was within the limit.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "package"), os.path.join(os.path.dirname(HERE), "system")]
sys.dont_write_bytecode = True

import daemon  # noqa: E402
import machine  # noqa: E402

LIMIT_SECONDS = 15 * 60
UBUNTU = ("not tried on Ubuntu: debootstrap checks an archive's signature, Debian 12 has no keys of Ubuntu's, and Ubuntu's chromium, "
          "which the tests of the page drive, is a snap, for which a machine must have booted")


def missing():
    """Returns why the test cannot run on this host, or None."""
    if os.geteuid() != 0:
        return "test-bare needs root: sudo make test-bare"
    for tool in ("debootstrap", "systemd-nspawn", "git", "chroot"):
        if shutil.which(tool) is None:
            return f"{tool} is missing: make deps-package"
    return None


def typed(seconds, what):
    print(f"bare: {what} after {seconds:.0f} s", flush=True)


def try_run(bare):
    """Runs `make run` and kills it once profd has made a profile. Returns why that failed, or None."""
    port = daemon.free_port()  # the machine shares the host's network, where the README's port may be in use
    process = bare.start("make", "run", f"LISTEN=127.0.0.1:{port}")
    try:
        while process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/profile?seconds=2&format=text", timeout=30) as answer:
                    return None if answer.status == 200 and answer.read() else "make run: an empty profile"
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.5)
        return f"make run ended with {process.returncode}"
    finally:
        bare.kill()
        process.wait()


def try_test(bare):
    process = bare.start("make", "test")
    try:
        return None if process.wait() == 0 else f"make test ended with {process.returncode}"
    finally:
        bare.kill()
        process.wait()


def main():
    why = missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    uncommitted = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"], cwd=daemon.ROOT, check=True,
                                 capture_output=True, text=True).stdout
    if uncommitted:
        print("bare: the machine gets what is committed, without:\n" + uncommitted, end="")
    with machine.Machine() as bare:
        start, failed = time.monotonic(), []
        for name, attempt in (("make run", try_run), ("make test", try_test)):
            failed += filter(None, [attempt(bare)])
            typed(time.monotonic() - start, name)
        took = time.monotonic() - start
    print(f"bare: {UBUNTU}")
    if took > LIMIT_SECONDS:
        failed.append(f"over {LIMIT_SECONDS} s")
    print(f"bare: Debian 12: {'; '.join(failed) or 'green'}, {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    # Makes SIGTERM raise an exception, as SIGINT does, so that the machine is still stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
