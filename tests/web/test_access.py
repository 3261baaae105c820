# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The page is accessible: every view, light and dark, on a desktop and on a telephone, passes axe's rules, and no
view is wider than its screen."""

from harness import COLOURS, RULES, WebTest

import profiles

LANE = "host"
WIDTHS = {"wide": 1280, "narrow": 400}


# Fixed processes in place of the host's: one has no name and one has markup in its name.
PROCESSES = [
    {"pid": 1, "comm": "init", "unit": "init.scope", "container": "", "cpu_percent": 0.0, "rss_bytes": 12 << 20},
    {"pid": 7, "comm": "", "unit": "", "container": "", "cpu_percent": 1.5, "rss_bytes": None},
    {"pid": 8, "comm": "<b>bold</b>", "unit": "b.service", "container": "c", "cpu_percent": 99.9,
     "rss_bytes": 3 << 30, "leak": {"bytes_per_second": 1}},
]


class Access(WebTest):
    def setUp(self):
        super().setUp()
        self.page.route("**/processes", lambda route: route.fulfill(json=PROCESSES))

    def check(self, name):
        """Checks the current view in both widths and schemes. In the dark scheme only the colours can differ."""
        for size, width in WIDTHS.items():
            self.page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                self.page.emulate_media(color_scheme=scheme)
                with self.subTest(view=name, size=size, scheme=scheme):
                    self.wait_for("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme)
                    self.assertEqual(self.violations(COLOURS if scheme == "dark" else RULES), [])
                    self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width)
                self.screenshot(f"{name}-{size}-{scheme}")

    def check_view(self, view):
        self.open(f"view={view}&last=10m&pid={self.spin.pid}&focus=hot60")
        self.check(view)

    def test_flame(self):
        self.check_view("flame")

    def test_table(self):
        self.check_view("table")

    def test_tree(self):
        self.check_view("tree")

    def test_sandwich(self):
        self.check_view("sandwich")

    def test_graph(self):
        self.check_view("graph")

    def test_source(self):
        self.check_view("source")

    def test_comparison(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.drop(profiles.simple(same=1, faster=1, gone=1), "before.pb.gz")
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_text("Compare with another file").click()
        chooser.value.set_files({"name": "other.pb.gz", "mimeType": "application/gzip",
                                 "buffer": profiles.simple(same=1, faster=2, new=1)})
        self.page.locator("#summary", has_text="against the baseline").wait_for()
        self.check("comparison")

    def test_timeline_as_table_and_help(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.locator("#timeline").get_by_text("Table", exact=True).click()
        self.page.wait_for_selector(".timeline-table tbody tr")
        self.check("timeline-table")
        self.page.get_by_label("Keys and help").click()
        self.page.wait_for_selector("dialog[open]")
        self.check("help")

    def test_nothing_to_see(self):
        self.open(f"last=10s&unit=nobody&pid={self.spin.pid}")
        self.page.wait_for_selector("#empty:not([hidden])")
        self.assertIn("No samples match the filters", self.text("#empty"))
        self.check("empty")
