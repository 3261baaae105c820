# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A user chooses times on the strip above the views: with a pointer, from the keyboard, and in the strip's table."""

from harness import WebTest

LANE = "host"
CANVAS = ".timeline-canvas"
DRAWN = f"() => document.querySelector('{CANVAS}').getAttribute('aria-valuemax') > 0"


class Timeline(WebTest):
    def open_strip(self, fragment=""):
        self.open(f"pid={self.spin.pid}&{fragment}")
        self.wait_for(DRAWN)

    def drag(self, first, last, shift=False):
        """Drags between two positions, given as shares of the strip's width."""
        box = self.page.locator(CANVAS).bounding_box()
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + first * box["width"], y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + (first + last) / 2 * box["width"], y)
        self.page.mouse.move(box["x"] + last * box["width"], y)
        if shift:
            self.page.keyboard.down("Shift")
        self.page.mouse.up()
        if shift:
            self.page.keyboard.up("Shift")

    def asked(self):
        """Returns the query of the latest /profile."""
        return [url.split("/profile?")[1] for url in self.requests if "/profile?" in url][-1]

    def test_drag_chooses_an_interval_of_every_view(self):
        self.open_strip("last=10m")
        whole = self.page.evaluate("document.querySelector('#summary').textContent")
        self.drag(0.8, 0.95)
        self.wait_for("before => document.querySelector('#summary').textContent !== before", whole)
        state = self.state()
        self.assertGreater(float(state["to"]), float(state["from"]))
        self.assertNotIn("last", state)
        self.assertIn(f"from={state['from']}&to={state['to']}&pid={self.spin.pid}", self.asked())
        for view in ("table", "tree"):
            self.page.locator(f"#tab-{view}").click()
            self.assertIn("hot60", self.page.locator("#panel").inner_text())
        self.screenshot("interval")
        self.page.locator("#timeline").get_by_role("button", name="Clear").click()
        self.wait_for("!location.hash.includes('from=')")
        self.page.go_back()
        self.wait_for("location.hash.includes('from=')")

    def test_shift_drag_compares(self):
        self.open_strip("last=10s")
        self.drag(0.7, 0.9, shift=True)
        self.page.locator("#summary", has_text="against the baseline").wait_for()
        first, last = map(float, self.state()["base"].split("-"))
        self.assertLess(first, last)
        self.page.mouse.move(1, 1)
        self.assertIn("compared with", self.text(".timeline-said"))
        self.screenshot("comparison")
        self.page.reload()
        self.page.locator("#summary", has_text="against the baseline").wait_for()

    def test_baseline_by_buttons(self):
        self.open_strip("last=10s")
        pick = self.page.get_by_text("Choose baseline")
        pick.click()
        self.assertEqual(pick.get_attribute("aria-pressed"), "true")
        self.drag(0.7, 0.9)
        self.wait_for("location.hash.includes('base=')")
        self.assertEqual(pick.get_attribute("aria-pressed"), "false")
        self.page.get_by_text("Compare with before").click()
        self.wait_for("""() => {
            const state = new URLSearchParams(location.hash.slice(1));
            return Math.abs(state.get('base').split('-')[1] - state.get('from')) < 0.01;
        }""")

    def test_keyboard(self):
        self.open_strip("last=10m")
        self.page.locator(CANVAS).focus()
        self.page.keyboard.press("End")
        self.wait_for(f"/CPUs/.test(document.querySelector('{CANVAS}').getAttribute('aria-valuetext'))")
        self.page.keyboard.press("ArrowLeft")
        for _ in range(9):
            self.page.keyboard.press("Shift+ArrowLeft")
        self.page.keyboard.press("Enter")
        self.wait_for("location.hash.includes('from=')")
        state = self.state()
        self.assertAlmostEqual(float(state["to"]) - float(state["from"]), 10, places=2)
        for _ in range(4):
            self.page.keyboard.press("ArrowLeft")
        self.page.keyboard.press("b")
        self.wait_for("location.hash.includes('base=')")
        self.page.keyboard.press("Escape")
        self.wait_for("!location.hash.includes('base=') && !location.hash.includes('from=')")

    def test_table_says_the_same(self):
        self.open_strip("last=10m")
        self.page.locator("#timeline").get_by_text("Table", exact=True).click()
        head = self.page.locator(".timeline-table thead th").all_inner_texts()
        self.assertEqual(head[:1] + head[-2:], ["Time", "Others", "Show"])
        self.assertIn("spin60_30_10", head)
        self.page.locator(".timeline-table tbody button").last.click()
        self.wait_for("location.hash.includes('from=')")

    def test_strip_is_of_the_chosen_process(self):
        """The strip shows the process's threads: the one of the workload, and nothing else."""
        self.open_strip()
        self.assertEqual(self.page.locator("#timeline .timeline-legend li").all_inner_texts(), ["spin60_30_10"])
        self.page.locator("#timeline .timeline-legend button").click()
        self.wait_for(f"location.hash.includes('thread={self.spin.pid}')")
        self.wait_shown()
        self.assertIn(f"tid={self.spin.pid}", self.asked())

    def test_live_goes_on(self):
        self.open_strip("last=10s")
        self.page.locator("#control-live").check()
        self.wait_for("location.hash.includes('live=1')")
        seen = len([url for url in self.requests if "/profile?" in url])
        with self.page.expect_response(lambda response: "/profile?" in response.url):
            pass
        with self.page.expect_response(lambda response: "/profile?" in response.url):
            pass
        self.assertGreater(len([url for url in self.requests if "/profile?" in url]), seen)
        self.drag(0.5, 0.9)
        self.wait_for("location.hash.includes('from=') && !location.hash.includes('live=')")
