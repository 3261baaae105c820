# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The base of every test of the page: a fresh browser page over the daemon of its lane (system/lanes.py).

A test fails if the page writes a warning or an error to its console, throws, or sends a request to another host.
"""

import base64
import contextlib
import os
import shutil
import time
import unittest

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

import daemon
import workload

CHROMIUM = ("chromium-headless-shell", "headless_shell", "chromium", "chromium-browser", "google-chrome")  # the lightest first
SCREENSHOTS = os.path.join(daemon.BUILD, "web-screenshots")
PATIENCE = 60_000  # milliseconds: a hundred times what a wait takes on a quiet machine
RECORDED = 6  # seconds of the workload's CPU time that tests may rely on
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]  # tags of axe's rules
COLOURS = ["color-contrast", "link-in-text-block"]  # the rules of axe whose result depends on the colour scheme
DROP = """([name, base64]) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
}"""


def chromium():
    return next((path for path in map(shutil.which, CHROMIUM) if path), None)


def missing():
    """Returns why the tests cannot run on this host, or None."""
    if os.geteuid() != 0:
        return "the tests of the page need root: sudo make test-web"
    if not os.access(daemon.PROFD, os.X_OK):
        return f"{daemon.PROFD} is missing: make build"
    if not chromium():
        return "chromium is missing: make deps"
    return None


class World:
    """The browser, the daemon and the workload of all tests in a process."""

    def __init__(self):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        self.started = contextlib.ExitStack()  # ends each of them, even if ending another one fails
        try:
            self.daemon = daemon.Daemon()
            self.started.callback(self.daemon.stop)
            # After RECORDED seconds of CPU time the workload mostly sleeps, and leaves the CPUs to the browser.
            self.spin = workload.Workload("spin60_30_10", 3600, RECORDED)
            self.started.callback(lambda: self.spin.__exit__(None, None, None))
            playwright = sync_playwright().start()
            self.started.callback(playwright.stop)
            # Chromium has no sandbox as root, and a container may have a small /dev/shm.
            self.browser = playwright.chromium.launch(
                executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
            self.started.callback(self.browser.close)
            self.wait_recorded()
        except BaseException:
            self.stop()
            raise

    def wait_recorded(self):
        """Waits until the daemon has enough samples of the workload, however little CPU time the workload gets."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            answer = self.daemon.get(f"/timeline?last=10m&pid={self.spin.pid}").json()
            if sum(row["total"] for row in answer["threads"]) >= RECORDED * 1e9:
                return
            time.sleep(0.5)
        raise AssertionError(f"spin60_30_10 used less than {RECORDED} s of CPU time in 120 s")

    def stop(self):
        self.started.close()


_world = None


def world():
    global _world
    if _world is None:
        _world = World()
    return _world


def stop():
    global _world
    if _world is not None:
        _world.stop()
        _world = None


class WebTest(unittest.TestCase):
    width, height, scheme = 1280, 900, "light"
    expected = ()  # texts that may occur in the complaints

    @classmethod
    def setUpClass(cls):
        cls.world = world()
        cls.daemon, cls.spin = cls.world.daemon, cls.world.spin

    def setUp(self):
        self.complaints, self.requests = [], []
        self.context = self.world.browser.new_context(
            viewport={"width": self.width, "height": self.height}, color_scheme=self.scheme,
            reduced_motion="reduce", accept_downloads=True)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: message.type in ("warning", "error") and
                     self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def tearDown(self):
        try:
            self.page.close()
        finally:
            self.context.close()
        unexpected = [text for text in self.complaints if not any(part in text for part in self.expected)]
        self.assertEqual(unexpected, [])
        elsewhere = [url for url in self.requests if not url.startswith((self.daemon.url, "blob:", "data:"))]
        self.assertEqual(elsewhere, [])

    # ---- actions of the tests ----

    def open(self, fragment="", wait=True):
        """Opens the page anew, as from a link; waits until it shows what the fragment asks for."""
        self.page.goto("about:blank")
        self.requests.clear()
        self.page.goto(f"{self.daemon.url}/#{fragment}")
        if wait:
            self.wait_shown()

    def wait_shown(self):
        """Waits until the page shows a profile, either as a view or as the reason why there is none."""
        self.page.wait_for_selector('#profile[aria-busy="false"] :is(#panel, #empty):not([hidden])')

    def drop(self, data, name="dropped.pb.gz"):
        """Drops a file onto the page."""
        self.page.evaluate(DROP, [name, base64.b64encode(data).decode()])
        self.page.wait_for_selector("#opened:not([hidden])")

    def wait_for(self, expression, argument=None):
        """Waits until the expression, or a function of the argument, is true in the page."""
        # Playwright's wait_for_function() makes the page eval() the text, which the page forbids.
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(expression, argument):
            self.assertLess(time.monotonic(), end, f"never came: {expression}")
            self.page.wait_for_timeout(50)

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def summary(self):
        return self.text("#summary")

    def state(self):
        """Returns the state in the page's address: key -> value."""
        return self.page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def download(self, press):
        """Returns the bytes that press() makes the browser save, and their name."""
        with self.page.expect_download() as saved:
            press()
        with open(saved.value.path(), "rb") as file:
            return file.read(), saved.value.suggested_filename

    def save(self, label):
        self.page.locator(".menu-box > summary").click()
        return self.download(lambda: self.page.locator(".menu button", has_text=label).click())

    def screenshot(self, name):
        self.page.screenshot(path=os.path.join(SCREENSHOTS, f"{name}.png"))

    def violations(self, rules=RULES):
        """Returns what axe finds wrong, by rules or by tags of rules: each rule, and the elements that violate it."""
        found = Axe().run(self.page, options={"runOnly": rules, "resultTypes": ["violations"]}).response["violations"]
        return [f'{one["id"]}: {one["help"]}: {[node["target"] for node in one["nodes"]][:5]}' for one in found]
