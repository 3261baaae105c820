# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Captures, which take their seconds, and everything about memory, which only some daemons offer.

The answers about memory are written in this file, so that the page is tested with growth, refusals and gaps that no
test could wait for. tests/system tests where such answers come from.
"""

import re

from harness import WebTest

import profiles

LANE = "host"
FIELDS = ["unix_ms", "rss_anon", "rss_file", "rss_shmem", "swap", "heap_inuse", "control_group"]
MIB = 1 << 20


def memory_of(pid, leaking):
    points = [[1_700_000_000_000 + i * 1000, (10 + i) * MIB, 5 * MIB, 0, None if i < 3 else i * MIB, None, None]
              for i in range(60)]
    growth = {"leaking": True, "bytes_per_second": MIB, "since_unix_ms": 1_700_000_000_000}
    return {"pid": pid, "comm": "grows", "fields": FIELDS, "points": points, "growth": growth if leaking else None}


class Capture(WebTest):
    def test_capture(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.get_by_label("Seconds to capture").fill("2")
        self.page.get_by_text("Capture", exact=True).click()
        self.page.wait_for_selector(".wait progress")
        self.wait_for("location.hash.includes('from=')")
        self.wait_shown()
        self.page.wait_for_selector(".wait", state="hidden")
        state = self.state()
        self.assertAlmostEqual(float(state["to"]) - float(state["from"]), 2, delta=1)
        self.assertIn("hot60", self.save("Folded")[0].decode())

    def test_capture_is_cancelled(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.get_by_label("Seconds to capture").fill("600")
        self.page.get_by_text("Capture", exact=True).click()
        self.page.get_by_text("Cancel").click()
        self.page.wait_for_selector(".wait", state="hidden")
        self.wait_shown()
        self.assertNotIn("from", self.state())
        self.assertIn("cpu", self.summary())

    def test_seconds_are_checked(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.get_by_label("Seconds to capture").fill("601")
        self.page.get_by_text("Capture", exact=True).click()
        self.assertFalse(self.page.get_by_label("Seconds to capture").evaluate("input => input.checkValidity()"))
        self.assertTrue(self.page.locator(".wait").is_hidden())


class Memory(WebTest):
    expected = ("the server responded with a status of 422", "the server responded with a status of 404")

    def setUp(self):
        super().setUp()
        index = self.daemon.get("/").text + "\n  /memory?pid=PID  x\n  /heap?pid=PID  x\n  /oom  x\n"
        self.page.route(re.compile(r"/$"), lambda route: route.fulfill(body=index) if
                        "text/plain" in route.request.headers["accept"] else route.continue_())
        sources = [{"name": name, "on": on, "why": ""} for name, on in
                   (("cpu", True), ("rss", True), ("mmap", True), ("gpu", False))]
        status = {**self.daemon.get("/status").json(), "sources": sources}
        self.page.route("**/status", lambda route: route.fulfill(json=status))
        self.page.route("**/memory?*", self.answer_memory)
        self.page.route("**/oom", lambda route: route.fulfill(json=[{
            "id": 3, "pid": 77, "comm": "<i>hog</i>", "when_unix_ms": 1_700_000_000_000, "reason": "killed", "bytes": 64 * MIB}]))
        self.page.route("**/oom?*", lambda route: route.fulfill(body=profiles.simple(hog=3)))

    def answer_memory(self, route):
        if f"pid={self.spin.pid}" in route.request.url:
            route.fulfill(json=memory_of(self.spin.pid, leaking=True))
        else:
            route.fulfill(status=404, body="no such process\n")

    def test_curves_of_the_chosen_process(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.wait_for_selector("#memory:not([hidden])")
        self.assertIn("Memory of grows", self.text("#memory"))
        self.assertIn("Grows steadily, by 1.00 MiB a second", self.text("#memory"))
        self.assertIn("Anonymous 69.0 MiB", self.text("#memory .timeline-legend"))
        self.assertNotIn("Shared", self.text("#memory .timeline-legend"))
        self.page.locator("#memory summary").click()
        self.assertIn("69.0 MiB", self.text("#memory table"))
        self.assertEqual(self.violations(), [])
        self.screenshot("memory")
        drawn = self.page.locator(".memory-canvas").evaluate(
            "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size")
        self.assertGreater(drawn, 5)
        self.page.locator(".chips button").click()
        self.page.wait_for_selector("#memory", state="hidden")

    def test_heap_and_its_refusal(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.locator("#heap > summary").click()
        self.page.route("**/heap?*", lambda route: route.fulfill(status=422, body="<b>pid 1</b> would cost 5.2 cores\n"))
        form = self.page.locator("#heap form")
        self.assertEqual(form.get_by_label("PID").input_value(), str(self.spin.pid))
        form.get_by_label("Seconds").fill("1")
        form.get_by_label("not freed").check()
        with self.page.expect_request("**/heap?*") as asked:
            form.get_by_role("button").click()
        self.assertIn(f"heap?pid={self.spin.pid}&seconds=1&leaks=1", asked.value.url)
        self.page.get_by_text("<b>pid 1</b> would cost 5.2 cores").wait_for()
        form.get_by_label("held the most").check()
        with self.page.expect_request("**/heap?*") as asked:
            form.get_by_role("button").click()
        self.assertTrue(asked.value.url.endswith("&seconds=1&peak=1"), asked.value.url)
        writer = profiles.Writer(types=(("alloc_space", "bytes"), ("inuse_space", "bytes")))
        heap = writer.add(["main", "leak"], 4 * MIB, 2 * MIB).bytes()
        self.page.unroute("**/heap?*")
        self.page.route("**/heap?*", lambda route: route.fulfill(body=heap))
        form.get_by_role("button").click()
        self.page.wait_for_selector("#opened:not([hidden])")
        self.assertIn("2.00 MiB of inuse_space", self.summary())

    def test_kept_of_who_ran_out_of_memory(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        self.page.get_by_text("<i>hog</i> (77)").click()
        self.page.wait_for_selector("#opened:not([hidden])")
        self.assertIn("3.00 s", self.summary())

    def test_growth_that_is_none(self):
        nothing = profiles.Writer(types=(("samples", "count"), ("resident", "bytes"))).bytes()
        self.page.route("**/profile?type=rss*", lambda route: route.fulfill(body=nothing))
        self.open(f"last=10s&kind=rss&pid={self.spin.pid}")
        self.assertIn("did not grow enough in this time", self.text("#empty"))

    def test_other_kinds(self):
        self.open(f"last=10s&pid={self.spin.pid}")
        kinds = self.page.locator("#control-profile option").all_inner_texts()
        self.assertEqual(kinds, ["CPU", "Memory growth", "Address space"])
        growth = profiles.Writer(types=(("samples", "count"), ("bytes", "bytes"))).add(["main", "grow"], 1, MIB).bytes()
        self.page.route("**/profile?type=rss*", lambda route: route.fulfill(body=growth))
        self.page.locator("#control-profile").select_option("rss")
        self.wait_for("document.querySelector('#summary').textContent.startsWith('1.00 MiB of bytes')")
