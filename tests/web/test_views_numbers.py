# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The page's sums equal those of `go tool pprof`, and bytes that are no profile give an error and nothing else."""

import base64
import gzip
import math
import random
import re
import tempfile

import pprof
from harness import WebTest

import profiles

LANE = "views"
SIGMAS = 4
# Returns the rows of a selection: name -> [self, total].
ROWS = """async ([base64, options]) => {
    const { decodeProfile } = await import('/ui/profile/profile.js');
    const { select } = await import('/ui/profile/aggregate.js');
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const model = select(await decodeProfile(bytes.buffer), options);
    const { name, self, total } = model.frames;
    return Object.fromEntries(Array.from(model.rows, (row) => [name[row], [self[row], total[row]]]));
}"""
DECODE = """async (files) => {
    const { decodeProfile } = await import('/ui/profile/profile.js');
    const { select } = await import('/ui/profile/aggregate.js');
    return Promise.all(files.map(async (base64) => {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        try {
            select(await decodeProfile(bytes.buffer), {});
            return '';
        } catch (error) {
            return error.constructor === Error ? error.message : `${error.name}: ${error.stack}`;
        }
    }));
}"""
UNPACK = """async ([base64, limit]) => {
    const { gunzip } = await import('/ui/profile/gunzip.js');
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return gunzip(bytes, limit).then((all) => all.length, (error) => error.message);
}"""
AROUND = """async ([base64, name]) => {
    const { decodeProfile } = await import('/ui/profile/profile.js');
    const { select, diff } = await import('/ui/profile/aggregate.js');
    const { calleesOf, callersOf } = await import('/ui/profile/callers.js');
    const { toFolded } = await import('/ui/profile/folded.js');
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const model = select(await decodeProfile(bytes.buffer), {});
    const frame = model.frames.name.indexOf(name);
    const folded = (tree) => toFolded({ ...model, tree }).trim().split('\\n');
    return { callers: folded(callersOf(model, frame)), callees: folded(calleesOf(model, frame)),
        all: folded(model.tree) };
}"""
DIFF = """async ([before, after, scale]) => {
    const { decodeProfile } = await import('/ui/profile/profile.js');
    const { select, diff } = await import('/ui/profile/aggregate.js');
    const read = async (text) => select(await decodeProfile(
        Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer), {});
    const model = diff(await read(before), await read(after), { scale });
    const { name, total, baseTotal } = model.frames;
    return Object.fromEntries(Array.from(model.rows, (row) => [name[row], [baseTotal[row], total[row]]]));
}"""


def text(data):
    return base64.b64encode(data).decode()


def pprof_rows(data, granularity, index, unit):
    """Returns name -> [flat, cum] as go tool pprof prints them."""
    with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
        file.write(data)
        file.flush()
        out = pprof.pprof("-symbolize=none", "-top", f"-{granularity}", "-nodecount=0", "-nodefraction=0",
                          "-edgefraction=0", f"-unit={unit}", f"-sample_index={index}", file.name)
    rows = {}
    for line in out.split("flat%", 1)[1].splitlines()[1:]:
        flat, _, _, cum, _, name = line.split(maxsplit=5)
        name = re.sub(r" \((partial-)?inline\)$", "", name)
        rows[name] = [int(re.match(r"-?\d+", field)[0]) for field in (flat, cum)]
    return rows


def recursive():
    """Returns a profile with direct and indirect recursion, samples without a stack, and frames without a name."""
    writer = profiles.Writer()
    lib = ("", "", 0, "/usr/lib/libnameless.so")
    fib = [("fib", "/src/./a/../fib.c", line, "/bin/fib") for line in (3, 4)]
    writer.add(["main", fib[0], fib[0], fib[1], fib[0]], 3, 30_000_000)
    writer.add(["main", "even", "odd", "even", "odd"], 2, 20_000_000)
    writer.add(["main", "even", lib], 5, 50_000_000)
    writer.add([], 1, 10_000_000)
    writer.add(["other"], 0, 0)
    writer.add(["main", "fib"], 2 ** 40, 2 ** 52)
    return writer.bytes()


class Numbers(WebTest):
    def setUp(self):
        super().setUp()
        self.open(f"pid={self.spin.pid}")

    def rows(self, data, **options):
        return self.page.evaluate(ROWS, [text(data), options])

    def assert_as_pprof(self, data):
        for value, by, index, unit in ((0, "function", "samples", "count"), (1, "line", "cpu", "ns")):
            ours = {name: numbers for name, numbers in
                    self.rows(data, valueIndex=value, by=by).items() if any(numbers)}
            theirs = {name: numbers for name, numbers in
                      pprof_rows(data, f"{by}s", index, unit).items() if any(numbers)}
            self.assertEqual(ours, theirs, (index, by))
        return ours

    def test_as_pprof_of_a_real_profile(self):
        """The profile has the workload and profd itself, with kernel functions, inlined ones and nameless ones."""
        data = self.daemon.get(f"/profile?last=10m&pid={self.spin.pid}&pid={self.daemon.process.pid}").body
        self.assertGreater(len(self.assert_as_pprof(data)), 14)

    def test_as_pprof_where_functions_recur(self):
        self.assert_as_pprof(recursive())

    def test_recursion_counts_once(self):
        rows = self.rows(recursive(), valueIndex=0)
        self.assertEqual(rows["fib"], [3 + 2 ** 40, 3 + 2 ** 40])
        self.assertEqual(rows["even"], [0, 7])
        self.assertEqual(rows["main"], [0, 10 + 2 ** 40])

    def test_truth_60_30_10(self):
        rows = self.rows(self.daemon.get(f"/profile?last=10m&pid={self.spin.pid}").body, valueIndex=0)
        leaves = {name: rows[name][0] for name in ("hot60", "hot30", "hot10")}
        count = sum(leaves.values())
        self.assertGreater(count, 100)
        for name, share in (("hot60", 0.6), ("hot30", 0.3), ("hot10", 0.1)):
            # In addition, the interval may cut a round of the workload at each end, of fifty rounds in ten seconds.
            tolerance = SIGMAS * math.sqrt(share * (1 - share) / count) + 0.02
            self.assertAlmostEqual(leaves[name] / count, share, delta=tolerance)
        self.assertGreaterEqual(rows["level12"][1], count * 0.5)

    def test_filters_and_groups(self):
        writer = profiles.Writer()
        kernel = ("ksys_read", "", 0, "[kernel.kallsyms]")
        writer.add(["main", "read", kernel], 1, 10, pid=1, tid=1, comm="a", thread="a")
        writer.add(["main", "work"], 2, 20, pid=1, tid=2, comm="a", thread="helper")
        writer.add([kernel], 4, 40, pid=2, tid=3, comm="b", thread="b", unit="x.service")
        data = writer.bytes()
        self.assertEqual(self.rows(data, by="process"), {"a (1)": [30, 30], "b (2)": [40, 40]})
        self.assertEqual(self.rows(data, by="thread")["a/helper (2)"], [20, 20])
        self.assertEqual(self.rows(data, by="process", kernel=False), {"a (1)": [30, 30]})
        self.assertEqual(self.rows(data, kernel=False), {"main": [0, 30], "read": [10, 10], "work": [20, 20]})
        self.assertEqual(self.rows(data, filters={"pid": "2"}), {"ksys_read": [40, 40]})
        self.assertEqual(self.rows(data, filters={"thread": "2"}), {"main": [0, 20], "work": [20, 20]})
        self.assertEqual(self.rows(data, filters={"unit": "x.service", "pid": "1"}), {})

    def test_interpreted_code_alone(self):
        writer = profiles.Writer()
        kernel = ("ksys_read", "", 0, "[kernel.kallsyms]")
        handle = ("handle", "/srv/app.py", 3, "[python 3.11]")
        writer.add(["main", handle, "memcpy", kernel], 1, 10)
        writer.add(["main", handle], 2, 20)
        writer.add(["main", "work"], 4, 40)
        writer.add([kernel], 8, 80)
        writer.add([("[unknown: why]", "", 0, "[unknown: why]"), "work"], 16, 160)
        data = writer.bytes()
        unknown = {"[unknown: why]": [160, 160]}
        self.assertEqual(self.rows(data, native=False), {"handle": [30, 30], "[native code]": [120, 120], **unknown})
        self.assertEqual(self.rows(data, native=False, kernel=False),
                         {"handle": [30, 30], "[native code]": [40, 40], **unknown})
        self.assertEqual(self.rows(data, native=True)["main"], [0, 70])

    def test_callers_and_callees_add_up(self):
        writer = profiles.Writer()
        writer.add(["main", "a", "lock", "spin"], 1, 10)
        writer.add(["main", "b", "lock", "lock", "wait"], 1, 20)
        writer.add(["main", "b"], 1, 40)
        found = self.page.evaluate(AROUND, [text(writer.bytes()), "lock"])
        self.assertEqual(found["callers"], ["lock;a;main 10", "lock;b;main 20"])
        self.assertEqual(found["callees"], ["lock;lock;wait 20", "lock;spin 10"])
        self.assertEqual(found["all"], ["main;a;lock;spin 10", "main;b 40", "main;b;lock;lock;wait 20"])

    def test_diff(self):
        before, after = (text(profiles.simple(**shares)) for shares in (
            {"same": 2, "less": 4, "gone": 1}, {"same": 2, "less": 1, "new": 3}))
        second = 10 ** 9
        self.assertEqual(self.page.evaluate(DIFF, [before, after, 1]), {
            "main": [7 * second, 6 * second], "same": [2 * second] * 2, "less": [4 * second, second],
            "gone": [second, 0], "new": [0, 3 * second]})
        self.assertEqual(self.page.evaluate(DIFF, [before, after, 0.5])["less"], [2 * second, second])


class Hostile(WebTest):
    """Files that a user opens may have any content."""

    def decode(self, files):
        self.open(f"pid={self.spin.pid}")
        return self.page.evaluate(DECODE, [text(data) for data in files])

    def test_no_profiles(self):
        good = recursive()
        huge = profiles.varint(2 ** 62)
        answers = self.decode([
            b"", b"<html>", b"\x1f\x8b\x08\x00", good[:len(good) // 2], b"\x0a" + b"\xff" * 11,
            b"\x32" + huge + b"abc",
            profiles.block(2, profiles.packed(1, [1]) + profiles.packed(2, [1, 1])),
            profiles.Writer(types=(("samples", "count"),)).add(["a"], 1, 2).bytes(),
            profiles.number(6, 1), gzip.compress(b"\x0b\x0c" * 9),
        ])
        for answer in answers:
            self.assertTrue(answer)
            self.assertEqual(len(answer.splitlines()), 1)
            self.assertNotIn("at ", answer.split("not a")[0], answer)

    def test_damaged_profiles(self):
        """Files with changed bytes and missing ends are either read or refused with a message."""
        chance = random.Random(60)
        plain = gzip.decompress(recursive())
        files = []
        for _ in range(600):
            data = bytearray(plain[:chance.randrange(1, len(plain) + 1)])
            for _ in range(chance.randrange(4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            files.append(bytes(data))
        answers = self.decode(files)
        self.assertGreater(sum(1 for answer in answers if answer), 100)
        for answer in filter(None, answers):
            self.assertRegex(answer, r"\Anot a [^\n]{5,120}\Z")

    def test_a_bomb_is_not_unpacked(self):
        self.open(f"pid={self.spin.pid}")
        answer = self.page.evaluate(UNPACK, [text(gzip.compress(bytes(5 << 20))), 4 << 20])
        self.assertEqual(answer, "the uncompressed file is larger than 4 MiB")
        self.assertEqual(self.page.evaluate(UNPACK, [text(gzip.compress(bytes(4 << 20))), 4 << 20]), 4 << 20)
