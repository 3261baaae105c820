# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Each view shows profiles of known content correctly, by mouse and by keyboard."""

import gzip
import re

from harness import WebTest

import profiles

LANE = "views"
SECOND = 10 ** 9
ROW = 19  # pixels, of a flame graph
MANY = 100_000
FRAME_MS = 160  # ten times the time of a frame at sixty frames a second; the measured time is printed
# Returns the median paint time of sixty frames, in milliseconds, while the flame graph zooms.
FRAME_TIME = """async () => {
    const canvas = document.querySelector('.flame-canvas'), times = [];
    for (let i = 0; i < 60; i++) {
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: i < 30 ? -1 : 1, ctrlKey: true, cancelable: true }));
        await new Promise(requestAnimationFrame);
        await new Promise((done) => setTimeout(done));
        times.push(Number(canvas.dataset.paintMs));
    }
    return times.sort((a, b) => a - b)[30];
}"""


def server():
    """Returns a profile: main has 60 % in work (2/3 of that in its callee hash), 40 % in Python code that reads files."""
    writer = profiles.Writer()
    main, work, hash_ = (("main", "/src/main.c", 10, "/bin/server"), ("work", "/src/work.c", 20, "/bin/server"),
                         ("hash", "/src/hash.c", 7, "/usr/lib/libhash.so.1"))
    handle, read = (("handle", "/srv/app.py", 3, "[python 3.11]"), ("vfs_read", "", 0, "[kernel.kallsyms]"))
    writer.add([main, work], 20, 20 * SECOND)
    writer.add([main, work, hash_], 40, 40 * SECOND)
    writer.add([main, handle], 10, 10 * SECOND)
    writer.add([main, handle, read], 30, 30 * SECOND)
    return writer.bytes()


def many():
    """Returns a profile with a tree of 100,000 calls, forty deep."""
    writer = profiles.Writer()
    paths = MANY // 40
    for i in range(paths):
        base = ["main"] + [f"shared{i * 4 // paths}_{depth}" for depth in range(3)]
        writer.add(base + [f"f{(i * 31 + depth * 17) % 5000}" for depth in range(40)], 1 + i % 7, (1 + i % 7) * SECOND)
    return writer.bytes()


class ViewTest(WebTest):
    def show(self, fragment, data=None, focus=""):
        self.open(f"{fragment}&pid={self.spin.pid}")
        self.drop(data or server())
        self.page.wait_for_selector("#panel .view")
        if focus:
            self.page.evaluate("(focus) => { location.hash += `&focus=${focus}`; }", focus)
            self.wait_for("(focus) => document.querySelector('.details strong')?.textContent === focus", focus)

    def said(self, pattern):
        """Waits until the page has announced this to screen readers."""
        self.wait_for("(pattern) => new RegExp(pattern).test(document.getElementById('live').textContent)", pattern)


class Flame(ViewTest):
    def click(self, part, depth):
        """Clicks at a share of the width, in the row of a depth."""
        canvas = self.page.locator(".flame-canvas")
        canvas.click(position={"x": canvas.bounding_box()["width"] * part, "y": depth * ROW + ROW / 2})

    def details(self):
        return self.text(".details")

    def test_zoom_by_mouse(self):
        self.show("view=flame")
        self.click(0.2, 2)
        self.wait_for("location.hash.includes('zoom=')")
        self.assertEqual(self.state()["focus"], "work")
        self.assertRegex(self.details(), r"(?s)work.*total\s+60\.0 s \(60\.0 %\).*self\s+20\.0 s \(20\.0 %\)")
        self.assertIn("/src/work.c", self.details())
        # The function fills the width now, so its callee has two thirds of it.
        self.click(0.6, 3)
        self.wait_for("document.querySelector('.details strong').textContent === 'hash'")
        self.assertEqual(self.page.locator(".crumbs button").all_inner_texts(), ["all", "main", "work", "hash"])
        self.page.locator(".crumbs button", has_text="main").click()
        self.wait_for("document.querySelectorAll('.crumbs button').length === 2")
        self.page.go_back()
        self.wait_for("document.querySelectorAll('.crumbs button').length === 4")

    def test_keyboard(self):
        self.show("view=flame")
        self.page.locator(".flame-canvas").focus()
        self.said("all: total 100 s")
        for key, name in (("ArrowDown", "main"), ("ArrowDown", "work"), ("ArrowRight", "handle"), ("ArrowDown", "vfs_read"),
                          ("ArrowUp", "handle"), ("ArrowLeft", "work"), ("End", "hash"), ("Home", "all")):
            self.page.keyboard.press(key)
            self.said(f"^{name}: total")
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            self.page.keyboard.press(key)
        self.wait_for("document.querySelectorAll('.crumbs button').length === 3")
        self.page.keyboard.press("Escape")
        self.wait_for("document.querySelectorAll('.crumbs button').length === 2")

    def test_search(self):
        self.show("view=flame&search=hash|vfs")
        self.assertEqual(self.text(".matched"), "matched 70.0 %, 70.0 s")
        self.page.locator(".flame-canvas").focus()
        self.page.keyboard.press("n")
        self.said("^hash")
        self.page.keyboard.press("n")
        self.said("^vfs_read")
        self.page.keyboard.press("Shift+N")
        self.said("^hash")

    def test_colours_and_directions(self):
        self.show("view=flame&colour=kind")
        self.assertEqual(self.page.locator(".legend li").all_inner_texts(), ["native", "Python", "kernel"])
        canvas = self.page.locator(".flame-canvas")
        before = canvas.screenshot()
        self.page.get_by_role("button", name="Upwards").click()
        self.wait_for("location.hash.includes('invert=1')")
        self.assertNotEqual(canvas.screenshot(), before)
        self.page.get_by_label("Colour").select_option("binary")
        self.wait_for("!document.querySelector('.legend li')")

    def test_colours_of_states(self):
        """By themselves where a profile has several; a box has the state of two thirds of its time."""
        writer = profiles.Writer((("events", "count"), ("wall", "nanoseconds")))
        for name, wait, seconds in (("runs", "", 10), ("locks", "futex", 30), ("polls", "poll", 60)):
            labels = {"state": "sleep", "wait": wait} if wait else {"state": "running"}
            writer.add(["main", name], 1, int(seconds * 1e9), **labels)
        self.show("view=flame", writer.bytes())
        self.assertEqual(self.page.locator(".legend li").all_inner_texts(), ["several", "runs", "futex", "poll"])
        canvas = self.page.locator(".flame-canvas")
        before = canvas.screenshot()
        self.page.get_by_label("Colour").select_option("binary")
        self.wait_for("!document.querySelector('.legend li')")
        self.assertNotEqual(canvas.screenshot(), before)
        self.page.get_by_label("Colour").select_option("state")
        self.wait_for("document.querySelectorAll('.legend li').length === 4")
        self.assertEqual(canvas.screenshot(), before)
        writer = profiles.Writer((("events", "count"), ("wall", "nanoseconds")))
        writer.add(["main", "runs"], 1, 10, state="running").add(["main", "polls"], 1, 90, state="sleep", wait="poll")
        self.show("view=flame", writer.bytes())
        self.assertEqual(self.page.locator(".legend li").all_inner_texts(), ["runs", "poll"])

    def test_tooltip(self):
        self.show("view=flame")
        box = self.page.locator(".flame-canvas").bounding_box()
        self.page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + ROW * 3.5)
        self.page.wait_for_selector(".tooltip:not([hidden])")
        self.assertRegex(self.text(".tooltip"), r"(?s)vfs_read.*30\.0 s \(30\.0 %\).*\[kernel\.kallsyms\]")

    def test_pictures(self):
        self.show("view=flame", profiles.simple(**{"</title><script>": 1, "b\u202ec": 2}))
        svg, name = self.save("SVG")
        self.assertTrue(name.endswith(".svg"))
        self.assertTrue(svg.startswith(b"<svg"))
        self.assertNotIn(b"<script", svg)
        self.assertIn(b"b\\u{202e}c", svg)
        self.assertEqual(svg.count(b"<title>"), 4)
        png, _ = self.save("PNG")
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")

    def test_hundred_thousand_nodes(self):
        """The unpacked file is large enough to be read in the background."""
        self.show("view=flame", gzip.decompress(many()))
        self.assertTrue(any(url.endswith("worker.js") for url in self.requests))
        self.assertIn("all", self.text(".details"))
        median = self.page.evaluate(FRAME_TIME)
        print(f"[{median:.1f} ms a frame] ", end="")
        self.assertGreater(median, 0)
        self.assertLess(median, FRAME_MS)


class Table(ViewTest):
    def cells(self):
        return self.page.evaluate("""() => Array.from(document.querySelectorAll('.rows tbody tr[data-index]'),
            (row) => Array.from(row.cells, (cell) => cell.textContent))""")

    def names(self):
        return [cells[0] for cells in self.cells()]

    def test_sorts(self):
        self.show("view=table")
        self.assertEqual(self.names(), ["hash", "vfs_read", "work", "handle", "main"])
        self.assertEqual(self.cells()[0][1:], ["40.0 s", "40.0 %", "40.0 s", "40.0 %"])
        for button, key, first, order in (("Total", "total", "main", "descending"), ("Total", "-total", "vfs_read", "ascending"),
                                          ("Function", "name", "handle", "ascending")):
            self.page.locator(".rows thead").get_by_role("button", name=button, exact=True).click()
            self.wait_for("(sort) => new URLSearchParams(location.hash.slice(1)).get('sort') === sort", key)
            self.assertEqual(self.page.locator(f'.rows th[aria-sort="{order}"]').count(), 1)
            self.assertEqual(first, self.names()[0])

    def test_search_filters(self):
        self.show("view=table&search=WORK|vfs")
        self.assertEqual(self.names(), ["vfs_read"])
        self.show("view=table&search=work|vfs")
        self.assertEqual(self.names(), ["vfs_read", "work"])

    def test_groups(self):
        for by, rows in (("binary", {"/bin/server", "/usr/lib/libhash.so.1", "[python 3.11]", "[kernel.kallsyms]"}),
                         ("line", {"main /src/main.c:10", "work /src/work.c:20", "hash /src/hash.c:7",
                                   "handle /srv/app.py:3", "vfs_read"})):
            self.show(f"view=table&by={by}")
            self.assertEqual(set(self.names()), rows)

    def test_many_rows_few_elements(self):
        self.show("view=table&sort=name", many())
        count = int(self.page.locator(".rows").get_attribute("aria-rowcount"))
        self.assertGreater(count, 4000)
        self.assertLess(self.page.locator(".rows tbody tr").count(), 200)
        self.page.locator(".rows tbody [data-stop]").first.focus()
        self.page.keyboard.press("End")
        self.wait_for("(last) => document.activeElement.closest('tr')?.ariaRowIndex === String(last)", count)
        self.page.keyboard.press("ArrowUp")
        self.wait_for("(last) => document.activeElement.closest('tr')?.ariaRowIndex === String(last - 1)", count)

    def test_copies_all(self):
        self.show("view=table")
        data, name = self.save("tsv")
        self.assertTrue(name.endswith(".tsv"))
        lines = [line.split("\t") for line in data.decode().splitlines()]
        self.assertEqual(len(lines), 6)
        self.assertEqual(lines[1], ["hash", str(40 * SECOND), "40", str(40 * SECOND), "40", "/src/hash.c",
                                    "/usr/lib/libhash.so.1"])


class Live(ViewTest):
    """When the same profile is taken again, the view stays where it is."""

    def again(self):
        self.drop(server(), "again.pb.gz")
        self.wait_for("document.querySelector('#opened').textContent.includes('again')")

    def test_tree_stays_open(self):
        self.show("view=tree")
        self.page.locator("[role=treeitem]").nth(1).click()
        self.wait_for("document.querySelectorAll('[role=treeitem]').length === 4")
        self.again()
        self.assertEqual(self.page.locator("[role=treeitem]").count(), 4)


class Tree(ViewTest):
    def items(self):
        return self.page.locator("[role=treeitem] .tree-name > :nth-child(2)").all_inner_texts()

    def test_outline(self):
        self.show("view=tree")
        self.assertEqual(self.items(), ["main", "work", "hash", "handle", "vfs_read"])
        item = self.page.locator("[role=treeitem]").nth(1)
        self.assertEqual([item.get_attribute(f"aria-{name}") for name in ("level", "posinset", "setsize", "expanded")],
                         ["2", "1", "2", "true"])
        item.click()
        self.wait_for("document.querySelectorAll('[role=treeitem]').length === 4")
        self.page.keyboard.press("ArrowRight")
        self.wait_for("document.querySelectorAll('[role=treeitem]').length === 5")
        for key, name in (("ArrowRight", "hash"), ("ArrowLeft", "work"), ("Home", "main"), ("End", "vfs_read")):
            self.page.keyboard.press(key)
            self.wait_for("(name) => document.activeElement.textContent.includes(name)", name)

    def test_search_marks(self):
        self.show("view=tree&search=hash")
        self.assertEqual(self.page.locator(".tree mark").all_inner_texts(), ["hash"])


class Around(ViewTest):
    def test_sandwich(self):
        self.show("view=sandwich", focus="work")
        self.assertIn("60.0 s", self.text(".details"))
        callees = self.page.locator(".flame-canvas").nth(1)
        callees.focus()
        self.said("^work: total 60.0 s")
        self.page.keyboard.press("ArrowDown")
        self.said("^hash: total 40.0 s")
        self.page.locator(".flame-canvas").first.focus()
        self.page.keyboard.press("ArrowUp")
        self.said("^main: total 60.0 s")
        picker = self.page.locator(".picker input")
        picker.fill("vfs")
        picker.press("Enter")
        self.wait_for("location.hash.includes('focus=vfs_read')")
        self.assertIn("30.0 s", self.text(".details"))

    def test_graph(self):
        self.show("view=graph", focus="work")
        labels = [node.get_attribute("aria-label") for node in self.page.locator(".graph-node").all()]
        self.assertEqual([re.match(r"\w+", label)[0] for label in labels], ["main", "work", "hash"])
        self.assertIn("total 40.0 s (40.0 %)", labels[2])
        self.assertEqual(sorted(self.page.locator(".graph-label").all_text_contents()), ["40.0 %", "60.0 %"])
        self.page.locator(".graph-node").first.focus()
        self.page.keyboard.press("Enter")
        self.wait_for("location.hash.includes('focus=main')")
        self.assertEqual(self.page.locator(".graph-node").count(), 5)

    def test_graph_is_bounded(self):
        """The graph shows the fourteen heaviest of sixty callees, and their caller."""
        self.show("view=graph", profiles.simple(**{f"f{i}": 100 + i for i in range(60)}), focus="main")
        names = [node.get_attribute("aria-label").split(":")[0] for node in self.page.locator(".graph-node").all()]
        self.assertEqual(set(names), {"main", *(f"f{i}" for i in range(46, 60))})


class Source(ViewTest):
    def test_lines_of_what_runs(self):
        self.open(f"view=source&last=10m&pid={self.spin.pid}&focus=hot60")
        row = self.page.locator(".source tr.hot", has_text="hot60").or_(self.page.locator(".source tr.hot", has_text="LEAF"))
        row.first.wait_for()
        self.assertIn("spin60_30_10.c", self.text("#panel [role=status]"))

    def test_level_calls_the_next(self):
        self.open(f"view=source&last=10m&pid={self.spin.pid}&focus=level12")
        self.page.locator(".source tr.hot").first.wait_for()
        hot = " ".join(self.page.locator(".source tr.hot code").all_inner_texts())
        self.assertIn("hot60(6 * UNIT);", hot)


class SourceNotHere(ViewTest):
    expected = ("404", "no profile so far names")

    def test_says_why(self):
        self.show("view=source", focus="work")
        # The hottest frame, shown before `work` was selected, gets the same refusal with another file.
        self.wait_for("/work[.]c.*no profile so far names/.test(document.querySelector('#panel [role=status]').textContent)")
        self.assertIn("20", self.text(".source tbody"))
