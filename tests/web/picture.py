#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Takes the pictures of the page that README.md shows, light and dark: the flame graph of a host on which a Python program, a
compiler and a C program run.

  make pictures
"""

import contextlib
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "system"), os.path.join(os.path.dirname(HERE), "bench")]
sys.dont_write_bytecode = True

from playwright.sync_api import sync_playwright  # noqa: E402

import daemon  # noqa: E402
import harness  # noqa: E402
from programs import PROGRAMS  # noqa: E402
from warm_up import warm_up  # noqa: E402
from workload import Workload  # noqa: E402

SECONDS = 20
SIZE = {"width": 1200, "height": 720}
SOURCE = os.path.join(daemon.ROOT, "daemon", "encode", "pprof.c")
COMPILING = f"while :; do gcc -fsyntax-only -O2 -Idaemon -I. -isystem {daemon.BUILD} {SOURCE}; done"


def take(browser, url, scheme, path):
    page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    page.goto(url)
    page.wait_for_selector('#profile[aria-busy="false"] :is(#panel, #empty):not([hidden])')
    page.wait_for_timeout(500)
    page.screenshot(path=path)
    page.close()


def main():
    why = harness.missing()
    if why:
        sys.exit(why)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(daemon.Daemon())
        stack.enter_context(PROGRAMS["python3.11"]())
        stack.enter_context(Workload("spin60_30_10"))
        compiling = stack.enter_context(subprocess.Popen(["sh", "-c", COMPILING], cwd=daemon.ROOT, start_new_session=True))
        stack.callback(os.killpg, compiling.pid, 9)
        warm_up(server)
        start = time.time()
        time.sleep(SECONDS)
        end = time.time()
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(
            executable_path=harness.chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        stack.callback(browser.close)
        for scheme in ("light", "dark"):
            take(browser, f"{server.url}/#view=flame&from={start:.0f}&to={end:.0f}", scheme,
                 os.path.join(daemon.ROOT, "web", f"picture-{scheme}.png"))


if __name__ == "__main__":
    main()
