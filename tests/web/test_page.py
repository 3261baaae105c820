# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The page as a whole: how it is delivered, how large it is, and what it may do."""

import gzip
import re

from harness import WebTest

import profiles

LANE = "views"
VIEWS = ("flame", "table", "tree", "sandwich", "graph", "source")
MAX_TRANSFER = 150 * 1024
BROWSER = {"Accept": "text/html,application/xhtml+xml", "Accept-Encoding": "gzip, deflate, br"}


class Files(WebTest):
    def get(self, path, **headers):
        return self.daemon.request("GET", path, headers=headers or BROWSER)

    def test_page_for_browsers_and_text_for_others(self):
        page = self.get("/")
        self.assertEqual(page.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("Accept", page.headers["Vary"])
        self.assertIn(b"<title>profd</title>", gzip.decompress(page.body))
        self.assertTrue(self.daemon.get("/").text.startswith("profd "))

    def test_policy_lets_nothing_in(self):
        for path in ("/", "/ui/app.js"):
            headers = self.get(path).headers
            policy = headers["Content-Security-Policy"]
            for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"):
                self.assertIn(part, policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")

    def test_files_compressed_or_not(self):
        packed = self.get("/ui/app.js", **{"Accept-Encoding": "gzip"})
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        plain = self.get("/ui/app.js", **{"Accept-Encoding": "identity"})
        self.assertIsNone(plain.headers["Content-Encoding"])
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertEqual(packed.headers["Content-Type"], "text/javascript; charset=utf-8")

    def test_files_are_asked_for_again_but_not_sent_again(self):
        tag = self.get("/ui/app.js").headers["ETag"]
        again = self.get("/ui/app.js", **{"If-None-Match": tag})
        self.assertEqual((again.status, again.body), (304, b""))
        self.assertEqual(again.headers["ETag"], tag)
        self.assertEqual(self.get("/ui/app.js", **{"If-None-Match": '"other"'}).status, 200)

    def test_no_other_file(self):
        for path in ("/ui/", "/ui/../Makefile", "/ui/%2e%2e/README.md", "/ui/README.md", "/ui//app.js"):
            answer = self.get(path)
            self.assertEqual(answer.status, 404, path)
            self.assertEqual(len(answer.text.splitlines()), 1)

    def test_weighs_little(self):
        """The bytes sent before the first profile stay below the limit."""
        weight = 0

        def add(response):
            nonlocal weight
            if "/ui/" in response.url or response.url == f"{self.daemon.url}/":
                weight += int(response.headers["content-length"])

        self.page.on("response", add)
        self.open(f"pid={self.spin.pid}")
        print(f"[{weight / 1024:.0f} KiB] ", end="")
        self.assertGreater(weight, 10 * 1024)
        self.assertLess(weight, MAX_TRANSFER)


class Page(WebTest):
    def test_every_view_shows_what_runs(self):
        for view in VIEWS:
            self.open(f"view={view}&last=10m&pid={self.spin.pid}")
            self.assertEqual(self.page.locator("[role=tab][aria-selected=true]").get_attribute("data-name"), view)
            self.assertGreater(self.page.locator("#panel .view *").count(), 0)
            self.screenshot(f"view-{view}")

    def test_tabs_by_keyboard(self):
        self.open(f"pid={self.spin.pid}")
        self.page.locator("[role=tab][aria-selected=true]").focus()
        for view in (*VIEWS[1:], VIEWS[0], VIEWS[-1]):
            self.page.keyboard.press("ArrowLeft" if view == VIEWS[-1] and self.state().get("view") is None else "ArrowRight")
            self.assertEqual(self.page.locator("[role=tab][aria-selected=true]").get_attribute("data-name"), view)
            self.assertEqual(self.page.evaluate("document.activeElement.dataset.name"), view)

    def test_keys_everywhere(self):
        self.open(f"pid={self.spin.pid}")
        self.page.keyboard.press("2")
        self.wait_for("location.hash.includes('view=table')")
        self.page.keyboard.press("t")
        self.wait_for("document.documentElement.dataset.theme === 'dark'")
        self.page.keyboard.press("/")
        self.assertEqual(self.page.evaluate("document.activeElement.type"), "search")
        self.page.keyboard.type("1hot?")
        self.wait_for("location.hash.includes('search=1hot')")
        self.assertEqual(self.state()["view"], "table")
        self.page.locator("[role=tab][aria-selected=true]").focus()
        self.page.keyboard.press("?")
        self.page.wait_for_selector("dialog[open]")
        self.assertIn("/profile", self.text("dialog pre"))
        self.page.keyboard.press("Escape")
        self.page.wait_for_selector("dialog", state="hidden")

    def test_link_shows_the_same_again(self):
        self.open(f"last=5m&pid={self.spin.pid}&view=table&by=line&kernel=0&search=hot&theme=dark")
        before = self.page.url
        self.page.reload()
        self.wait_shown()
        self.assertEqual(self.page.url, before)
        self.assertEqual(self.page.evaluate("document.documentElement.dataset.theme"), "dark")
        self.assertEqual(self.page.locator("#controls input[type=search]").input_value(), "hot")
        self.assertIn(str(self.spin.pid), self.text(".chips"))
        self.page.locator("#control-by").select_option("file")
        self.wait_for("location.hash.includes('by=file')")
        self.page.go_back()
        self.wait_for("location.hash.includes('by=line')")
        self.assertEqual(self.page.locator("#control-by").input_value(), "line")

    def test_nonsense_in_a_link(self):
        self.open(f"view=constructor&by=nothing&from=5&thread=-1&last=banana&base=9-1&search=%5B&type=x&theme=blue"
                  f"&zzz=1&pid={self.spin.pid}")
        self.assertEqual(self.page.locator("[role=tab][aria-selected=true]").get_attribute("data-name"), "flame")
        self.assertIn("last 1m", self.text(".timeline-said"))
        self.assertEqual(self.page.locator("#controls input[type=search]").get_attribute("aria-invalid"), "true")


class Refused(WebTest):
    expected = ("the server responded with a status of 404", "no process 4194304", "is running or recorded")

    def test_error_says_why_and_tries_again(self):
        self.open("pid=4194304", wait=False)
        self.page.wait_for_selector("#alert:not([hidden])")
        self.assertIn("no process 4194304", self.text("#alert"))
        self.page.locator(".chips button").click()
        self.wait_shown()
        self.page.wait_for_selector("#alert", state="hidden")


class Nobody(WebTest):
    expected = ("the server responded with a status of 404", "no process or thread is called")

    def test_a_name_that_nobody_has_is_no_failure(self):
        self.open("comm=no-such-name&last=1m", wait=False)
        self.page.locator("#empty", has_text="no process or thread is called no-such-name").wait_for()
        self.assertTrue(self.page.locator("#alert").is_hidden())
        self.page.locator("#empty button").click()
        self.wait_shown()


class Gone(WebTest):
    expected = ("ERR_FAILED", "the daemon does not answer")

    def test_daemon_gone_and_back(self):
        self.open(f"pid={self.spin.pid}")
        self.page.route("**/profile?*", lambda route: route.abort())
        self.page.locator("#control-time").select_option("5m")
        self.page.wait_for_selector("#alert:not([hidden])")
        self.assertIn("does not answer", self.text("#alert"))
        self.page.unroute("**/profile?*")
        self.page.get_by_text("Try again").click()
        self.page.wait_for_selector("#alert", state="hidden")
        self.wait_shown()


class Names(WebTest):
    EVIL = ("<img src=x onerror=window.evil=1>", "</script><script>window.evil=1</script>", "javascript:window.evil=1",
            "a\u202egnp.exe", "new\nline\x00and\x1b[31mred", "${window.evil=1}", "'\"><b>bold</b>")

    def test_names_are_text(self):
        writer = profiles.Writer()
        for i, name in enumerate(self.EVIL):
            writer.add([(name, f"/{name}", i + 1, f"/lib/{name}"), (f"{name}!", name, 1, name)], 1, 10 ** 9,
                       comm=name, thread=name, pid=1 + i, tid=1 + i, unit=name)
        for by in ("function", "file", "binary", "thread", "process", "line"):
            self.open(f"by={by}&last=10s&pid={self.spin.pid}")
            self.drop(writer.bytes(), f"{self.EVIL[0]}.pb.gz")
            for view in VIEWS[:-1]:
                self.page.locator(f"#tab-{view}").click()
                self.page.wait_for_selector(f".view-{view}")
        self.page.wait_for_timeout(200)
        self.assertIsNone(self.page.evaluate("window.evil ?? null"))
        self.assertEqual(self.page.locator("#panel img, #panel script, #panel b, #opened img").count(), 0)
        self.assertFalse(re.search("[\u202e\x1b\x00]", self.page.locator("body").inner_text()))
        self.assertIn("<img src=x", self.text("#opened"))
