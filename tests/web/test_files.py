# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files that a user opens, and files that the page saves."""

import gzip
import json

from harness import WebTest

import pprof
import profiles
from profile_pb import Profile

LANE = "host"


class Opened(WebTest):
    def setUp(self):
        super().setUp()
        self.open(f"last=10s&pid={self.spin.pid}")

    def open_both(self, base, now):
        self.drop(now, "now.pb.gz")
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_text("Compare with another file").click()
        chooser.value.set_files({"name": "base.pb.gz", "mimeType": "application/gzip", "buffer": base})
        self.page.locator("#summary", has_text="against the baseline").wait_for()

    def test_foreign_file(self):
        self.drop(profiles.simple(sixty=6, thirty=3, ten=1), "foreign.pb.gz")
        self.assertIn("10.0 s of cpu", self.summary())
        self.page.locator("#tab-table").click()
        rows = self.page.locator("#panel").inner_text()
        for name in ("sixty", "thirty", "ten", "60", "30", "10"):
            self.assertIn(name, rows)
        self.page.locator("#control-value").select_option("samples")
        self.wait_for("document.querySelector('#summary').textContent.startsWith('1,000')")
        self.page.get_by_text("Back to this host").click()
        self.page.wait_for_selector("#opened", state="hidden")
        self.wait_shown()

    def test_plain_file_and_other_types(self):
        writer = profiles.Writer(types=(("alloc_space", "bytes"), ("inuse_space", "bytes")))
        writer.add(["main", "make"], 4 << 20, 1 << 20)
        self.drop(writer.plain(), "heap.pb")
        self.assertIn("1.00 MiB of inuse_space", self.summary())

    def test_filters_of_a_file(self):
        writer = profiles.Writer()
        writer.add(["main", "a"], 1, 10 ** 9, pid=7, comm="seven", unit="a.service")
        writer.add(["main", "b"], 3, 3 * 10 ** 9, pid=8, comm="eight", unit="b.service")
        self.drop(writer.bytes())
        self.page.get_by_label("Filter by").select_option("unit")
        self.page.get_by_label("Filter value").fill("a.service")
        self.page.keyboard.press("Enter")
        self.wait_for("document.querySelector('#summary').textContent.startsWith('1.00 s')")
        self.page.locator(".chips button").click()
        self.wait_for("document.querySelector('#summary').textContent.startsWith('4.00 s')")

    def test_two_files_compared(self):
        self.open_both(profiles.simple(same=1, more=1, gone=1), profiles.simple(same=1, more=3, new=1))
        self.assertIn("+2.00 s", self.summary())
        self.page.locator("#tab-table").click()
        text = self.page.locator("#panel").inner_text()
        for name in ("same", "more", "gone", "new"):
            self.assertIn(name, text)
        self.screenshot("two-files")

    def test_save(self):
        data = profiles.simple(sixty=6, thirty=3, ten=1)
        self.drop(data, "foreign.pb.gz")
        saved, name = self.save("pprof")
        self.assertEqual((saved, name), (data, "foreign.pb.gz"))
        folded, name = self.save("Folded")
        self.assertEqual(sorted(folded.decode().split("\n")[:3]),
                         ["main;sixty 6000000000", "main;ten 1000000000", "main;thirty 3000000000"])
        self.assertTrue(name.endswith(".folded"))
        picture, _ = self.save("SVG")
        self.assertIn(b"sixty", picture)
        self.assertNotIn(b"<script", picture)
        self.assertTrue(self.save("PNG")[0].startswith(b"\x89PNG\r\n"))
        self.page.locator("#tab-table").click()
        table, _ = self.save("Table")
        self.assertIn("thirty\t", table.decode())

    def test_saved_profile_is_the_daemons(self):
        saved, _ = self.save("pprof")
        self.assertIn("hot60", pprof.protoc_decode(gzip.decompress(saved)))
        pids = {sample.labels["pid"] for sample in Profile(saved).samples}
        self.assertEqual(pids, {self.spin.pid})


class Broken(WebTest):
    expected = ("broken.pb.gz",)

    def test_broken_files_say_why(self):
        whole = profiles.simple(a=1)
        cases = (b"", b"hello", whole[:40], b"\x1f\x8b" + b"\0" * 30, gzip.compress(b"\xff" * 50),
                 gzip.compress(gzip.decompress(whole)[:-3]), json.dumps({"a": 1}).encode())
        self.open(f"last=10s&pid={self.spin.pid}")
        for data in cases:
            with self.subTest(data=data[:10]):
                self.page.evaluate("document.querySelector('#alert').hidden = true")
                self.page.locator("input[type=file]").set_input_files(
                    {"name": "broken.pb.gz", "mimeType": "application/gzip", "buffer": data})
                self.page.wait_for_selector("#alert:not([hidden])")
                self.assertTrue(self.text("#alert").startswith("broken.pb.gz: "), self.text("#alert"))
        self.assertTrue(self.page.locator("#panel").is_visible())
