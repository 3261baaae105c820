# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Traces are valid by Perfetto's own description of them, and the page hands a trace to Perfetto's page."""

import base64
import collections
import gzip
import time

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from harness import WebTest

import profiles
from profile_pb import Profile

LANE = "host"
PERFETTO = "https://ui.perfetto.dev"
MONOTONIC, REALTIME = 3, 1
# All that the tests need of Perfetto's page: it answers PING, and takes the trace that follows.
PAGE = """<!DOCTYPE html><title>stands in for Perfetto</title><script>
addEventListener('message', ({ data, source }) => {
    if (data === 'PING')
        return source.postMessage('PONG', '*');
    const { buffer, title } = data.perfetto;
    window.got = { title, data: btoa(String.fromCharCode(...new Uint8Array(buffer))) };
});
</script>"""


class Trace:
    """The packets of a trace, with all references looked up."""

    def __init__(self, data):
        trace = perfetto_trace_pb2.Trace.FromString(gzip.decompress(data))
        self.packets = trace.packet
        self.names, self.sources, self.paths = {}, {}, {}
        self.frames, self.callstacks, self.mappings = {}, {}, {}
        self.processes, self.threads, self.samples = {}, {}, []
        for packet in self.packets:
            self.take(packet)
        self.defaults = self.packets[0].trace_packet_defaults
        self.clocks = {clock.clock_id: clock.timestamp for packet in self.packets
                       for clock in packet.clock_snapshot.clocks}

    def take(self, packet):
        """Reads a packet. An ID must be defined before it is used, and only once."""
        data = packet.interned_data
        for table, rows in ((self.names, data.function_names), (self.sources, data.source_paths),
                            (self.paths, data.mapping_paths), (self.mappings, data.mappings),
                            (self.frames, data.frames), (self.callstacks, data.callstacks)):
            for row in rows:
                assert row.iid and row.iid not in table
                table[row.iid] = row
        for frame in data.frames:
            assert frame.function_name_id in self.names and frame.mapping_id in self.mappings
            assert not frame.source_path_iid or frame.source_path_iid in self.sources
        for process in packet.process_tree.processes:
            self.processes[process.pid] = process
        for thread in packet.process_tree.threads:
            self.threads[thread.tid] = thread
        if packet.HasField("stack_sample"):
            self.samples.append((packet.timestamp, packet.stack_sample))

    def stack(self, sample):
        """Returns the functions of a sample's stack, the root first."""
        frames = [self.frames[iid] for iid in self.callstacks[sample.callstack_iid].frame_ids]
        return tuple(self.names[frame.function_name_id].str.decode() for frame in frames)

    def lines(self, name):
        """Returns every (file, line) of a function."""
        return {(self.sources[frame.source_path_iid].str.decode(), frame.line_number)
                for frame in self.frames.values()
                if frame.source_path_iid and self.names[frame.function_name_id].str.decode() == name}

    def weights(self):
        """Returns (pid, tid, stack) -> [CPU nanoseconds, samples]."""
        sums = collections.defaultdict(lambda: [0, 0])
        for _, sample in self.samples:
            key = (sample.task_context.pid, sample.task_context.tid, self.stack(sample))
            sums[key][0] += sample.primary_weight
            sums[key][1] += sample.follower_weights[0]
        return dict(sums)


def pprof_weights(profile):
    sums = collections.defaultdict(lambda: [0, 0])
    for sample in profile.samples:
        stack = tuple(reversed(sample.names))
        key = (sample.labels["pid"], sample.labels["tid"], stack)
        sums[key][0] += sample.values[1]
        sums[key][1] += sample.values[0]
    return dict(sums)


class Traces(WebTest):
    def setUp(self):
        super().setUp()
        # Recent enough that slices of a second are kept, and over, so that every request gets the same.
        self.until = time.time() - 2
        self.since = self.until - 6

    def get(self, what):
        answer = self.daemon.get(f"/profile?from={self.since:.3f}&to={self.until:.3f}&pid={self.spin.pid}&{what}")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.body

    def both(self):
        """Returns the trace of an interval, and the profile of it. Samples of an interval that has just ended may still arrive,
        so the trace counts when the profiles before and after it are equal."""
        before, end = self.get("format=pprof"), time.monotonic() + 30
        while True:
            trace, after = self.get("format=perfetto"), self.get("format=pprof")
            if pprof_weights(Profile(before)) == pprof_weights(Profile(after)):
                return Trace(trace), Profile(after)
            self.assertLess(time.monotonic(), end, "what was recorded of a time that is over never stays the same")
            before = after

    def test_equals_pprof(self):
        trace, profile = self.both()
        self.assertEqual(trace.weights(), pprof_weights(profile))
        self.assertGreater(sum(cpu for cpu, _ in trace.weights().values()), 0)
        files = {path.rsplit("/", 1)[-1] for path, line in trace.lines("hot60") if line}
        self.assertEqual(files, {"spin60_30_10.c"})

    def test_is_what_perfetto_describes(self):
        trace = Trace(self.get("format=perfetto"))
        for packet in trace.packets:
            for message in (packet, packet.stack_sample, packet.interned_data, packet.process_tree,
                            packet.trace_packet_defaults, packet.clock_snapshot):
                self.assertEqual(len(UnknownFieldSet(message)), 0, message)
            self.assertEqual(packet.trusted_packet_sequence_id, trace.packets[0].trusted_packet_sequence_id)
        self.assertEqual([packet.sequence_flags for packet in trace.packets],
                         [3] + [2] * (len(trace.packets) - 1))
        samples = trace.defaults.stack_sample_defaults
        self.assertEqual(trace.defaults.timestamp_clock_id, MONOTONIC)
        self.assertEqual(samples.source, "profd.cpu")
        self.assertEqual((samples.primary_descriptor.name, samples.primary_descriptor.unit), ("cpu", 1))
        self.assertEqual([(one.name, one.unit) for one in samples.follower_descriptors], [("samples", 9)])

    def test_says_who_and_when(self):
        trace = Trace(self.get("format=perfetto"))
        self.assertEqual(list(trace.processes[self.spin.pid].cmdline), ["spin60_30_10"])
        self.assertEqual(trace.threads[self.spin.pid].tgid, self.spin.pid)
        moments = {time + trace.clocks[REALTIME] - trace.clocks[MONOTONIC] for time, _ in trace.samples}
        # A slice is a second long, longer on a busy machine; the first and the last may extend half of one beyond.
        self.assertGreaterEqual(len(moments), 2)
        self.assertGreaterEqual(min(moments) / 1e9, self.since - 10)
        self.assertLessEqual(max(moments) / 1e9, self.until + 10)

    def test_of_memory(self):
        data = self.daemon.get("/profile?last=10m&type=rss&format=perfetto").body
        samples = Trace(data).defaults.stack_sample_defaults
        self.assertEqual((samples.source, samples.primary_descriptor.unit), ("profd.resident", 4))


class OpenInPerfetto(WebTest):
    def setUp(self):
        super().setUp()
        self.context.route(f"{PERFETTO}/**", lambda route: route.fulfill(content_type="text/html", body=PAGE))
        self.open(f"last=10s&pid={self.spin.pid}")

    def hand_over(self):
        """Returns the title and the bytes that the other window received."""
        self.page.get_by_text("Save", exact=True).click()
        with self.context.expect_page() as opened:
            self.page.get_by_role("button", name="Open in Perfetto").click()
        other = opened.value
        other.wait_for_function("window.got")
        got = other.evaluate("window.got")
        other.close()
        return got["title"], base64.b64decode(got["data"])

    def test_what_is_shown(self):
        title, data = self.hand_over()
        self.assertRegex(title, r"^profd-.*-cpu\.pftrace\.gz$")
        trace = Trace(data)
        self.assertEqual(set(pid for pid, _, _ in trace.weights()), {self.spin.pid})

    def test_a_file_as_it_is(self):
        data = profiles.simple(sixty=6, thirty=3)
        self.drop(data, "foreign.pb.gz")
        self.assertEqual(self.hand_over(), ("foreign.pb.gz", data))

    def test_save_what_is_shown(self):
        """The page saves the profile that it shows, not a new answer to the same query."""
        shown, _ = self.save("pprof")
        self.page.wait_for_timeout(2000)
        saved, name = self.save("Perfetto trace")
        self.assertTrue(name.endswith(".pftrace.gz"))
        self.assertEqual(Trace(saved).weights(), pprof_weights(Profile(shown)))
