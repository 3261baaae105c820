# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares what profd reported in a guest with what the workloads report of themselves.

A judge takes the folder of a session and returns a few words for the table, or raises AssertionError.
"""

import json
import math
import os
import re

from heap_runs import Heap, truth_between
from profile_pb import Profile

LIMIT = 64 << 20  # of the control group in which the hog is killed
BYTES = 1  # the index of the value in bytes
NS = 1  # of waits
HELD = 3  # the index of the bytes held, in profiles of GPU memory
CHAIN = [f"level{i:02}" for i in range(12, 0, -1)] + ["main"]
HOT = {"hot60": 60, "hot30": 30, "hot10": 10}
GROW = {"grow60": 60, "grow30": 30, "grow10": 10}
WAITS = {"sleeps": 50, "reads": 100 / 3, "locks": 50 / 3}
GLUE = re.compile("^(bpf_|__bpf_|__traceiter_|__schedule$|schedule$)")
# A round of the workloads that spin may take seconds in a guest, and the end of the profile interrupts the last one.
CUT_ROUND = 6


def text(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def profile(folder, name, kind=Profile):
    with open(os.path.join(folder, name), "rb") as file:
        body = file.read()
    # If not gzip, the body is the line that says why there is no profile.
    expect(body.startswith(b"\x1f\x8b"), body.decode(errors="replace"))
    return kind(body)


def pids(folder):
    """Returns {program: process ID}."""
    return {name: int(pid) for name, pid in re.findall(r"(\w+)=(\d+)", text(folder, "pids"))}


def expect(condition, said):
    if not condition:
        raise AssertionError(said)


def percent(part, whole):
    return 100 * part / max(whole, 1)


def _shares(samples, wanted, value, count, least=0):
    """Checks each function's share, within four standard deviations for so many samples."""
    total = sum(sample.values[value] for sample in samples)
    found = []
    for name, share in wanted.items():
        measured = percent(sum(s.values[value] for s in samples if name in s.names), total)
        allowed = max(least, 400 * math.sqrt(share * (100 - share) / max(count, 1)) / 100)
        expect(abs(measured - share) <= allowed, f"{name}: {measured:.1f} % in place of {share} (+-{allowed:.1f})")
        found.append(f"{measured:.0f}")
    return "/".join(found)


def _of(folder, name):
    """Returns the samples of a program that spins."""
    pid = pids(folder)[name]
    return [sample for sample in profile(folder, "cpu.pb.gz").samples if sample.labels["pid"] == pid]


def cpu(folder):
    samples = _of(folder, "spin")
    count = sum(sample.count for sample in samples)
    expect(count > 300, f"{count} samples")
    return f"{_shares(samples, HOT, 0, count, CUT_ROUND)} of {count}"


def stacks(folder):
    """A program without frame pointers has the same shares, and every stack is whole and in order."""
    samples = _of(folder, "chain")
    count = sum(sample.count for sample in samples)
    expect(count > 300, f"{count} samples")
    _shares(samples, HOT, 0, count, CUT_ROUND)
    hot = [sample for sample in samples if sample.names[0] in HOT]
    whole = sum(s.count for s in hot if s.names[1:14] == CHAIN and s.names[-1] == "_start")
    share = percent(whole, sum(sample.count for sample in hot))
    expect(share >= 99.5, f"{share:.2f} % of the stacks are whole")
    return f"{share:.1f} % of {count}"


def _growth(folder, name, mode):
    grown = profile(folder, name)
    truth = int(text(folder, f"{mode}.said").split()[1])
    samples = [sample for sample in grown.samples if "main" in sample.names]
    ratio = sum(sample.values[BYTES] for sample in samples) / truth
    expect(0.95 < ratio < 1.05, f"{ratio:.3f} of what grew")
    return f"{_shares(samples, GROW, BYTES, grown.total())} of {100 * ratio:.1f} %"


def rss(folder):
    return _growth(folder, "rss.pb.gz", "anon")


def mmap(folder):
    return _growth(folder, "mmap.pb.gz", "mmap")


def heap(folder):
    said = profile(folder, "heap.pb.gz", Heap)
    truth = truth_between(text(folder, "heap.truth"), said.time_ns, said.time_ns + said.duration_ns)
    expect(said.sampled > 500, f"{said.sampled} samples")
    worst = 0
    for site, (allocated, _) in truth.items():
        off = said.sum("alloc_space", site) / allocated - 1
        share = allocated / sum(allocated for allocated, _ in truth.values())
        allowed = 4 / math.sqrt(said.sampled * share)
        expect(abs(off) <= allowed, f"{site}: {100 * off:+.1f} % (+-{100 * allowed:.1f})")
        worst = max(worst, abs(off))
    return f"within {100 * worst:.1f} %, n={said.sampled}"


def memory(folder):
    """Judges the timeline of the process that grew."""
    said = json.loads(text(folder, "memory"))
    grown = int(text(folder, "anon.said").split()[1])
    column = said["fields"].index("rss_anon")
    most = max(point[column] or 0 for point in said["points"])
    expect(0.95 < most / grown < 1.05, f"{most} bytes at most, of {grown}")
    return f"{100 * most / grown:.0f} %"


def oom(folder):
    pid = pids(folder)["hog"]
    kept = [k for k in json.loads(text(folder, "oom")) if k["pid"] == pid and k["reason"] == "killed"]
    expect(len(kept) == 1, f"{len(kept)} kills of {pid} are known")
    took = profile(folder, "oom.pb.gz").total(BYTES, lambda sample: "hog_takes_memory" in sample.names)
    expect(0.9 < took / LIMIT < 1.1, f"{took} bytes, of {LIMIT}")
    return f"{100 * took / LIMIT:.0f} %"


def waits(folder):
    """Waits begin with the function that waits, whatever the kernel has between itself and the program that sees them."""
    samples = [sample for sample in profile(folder, "offcpu.pb.gz").samples if not WAITS.keys().isdisjoint(sample.names)]
    glue = {name for sample in samples for name in sample.names if GLUE.match(name)}
    expect(not glue, f"frames of the tracepoint: {glue}")
    # Where others have the CPU, it is taken from the program anywhere.
    leaves = {sample.names[0] for sample in samples if "reads" in sample.names and sample.labels["state"] != "runnable"}
    expect(all("pipe_read" in leaf for leaf in leaves), f"reads() waits in {leaves}")
    return _shares(samples, WAITS, NS, 1 << 20, CUT_ROUND)  # waits as long as these are all sampled


def _said_last(folder, name):
    return json.loads(text(folder, name).splitlines()[-1])


def gpu_memory(folder):
    """The memory that each site holds is exact to the byte."""
    held = profile(folder, "gpu_memory.pb.gz")
    sites = {}
    for key, row in _said_last(folder, "truth.said")["sites"].items():
        sites.setdefault(key.split()[0], []).append(row[-1])
    for site, rows in sites.items():
        found = held.total(HELD, lambda sample, site=site: site in sample.names)
        expect(found == sum(rows), f"{site} holds {found} bytes, not {sum(rows)}")
    expect(len(sites) > 10, f"{len(sites)} sites")
    return f"{len(sites)} sites to the byte"


def gpu_launch(folder):
    """The launches of each kernel are complete."""
    said = profile(folder, "gpu_launch.pb.gz")
    kernels = {name: row[0] for name, row in _said_last(folder, "launches.said")["launches"].items()}
    found = {}
    for sample in said.samples:
        found[sample.names[0]] = found.get(sample.names[0], 0) + sample.values[0]
    expect(found == kernels, f"{found}, not {kernels}")
    return f"{sum(kernels.values())} of {len(kernels)} kernels"


def gpus_need_root(folder):
    """Like heap_needs_root()."""
    said = {source["name"]: source for source in json.loads(text(folder, "status"))["sources"]}["gpu_launch"]
    expect(not said["on"] and "CAP_SYS_ADMIN" in said["why"], f"it said: {said}")
    return said["why"]


# No workload has PyTorch, or the library that records kernels.
NOT_TRIED = ("gpu_tensor", "gpu_kernel")


def status(folder, may_be_off=lambda kind: kind in NOT_TRIED, may_warn=None):
    """Every kind of profile that has a workload is on, nothing was lost, and profd ended without an error or a warning."""
    said = json.loads(text(folder, "status"))
    off = {source["name"]: source["why"] for source in said["sources"]
           if not source["on"] and not may_be_off(source["name"])}
    expect(not off, f"off: {off}")
    lost = [name for name in said["counters"]
            if (name.endswith("_lost") or name == "drain_errors") and said["counters"][name]]
    expect(not lost, f"not 0: {lost}")
    expect(text(folder, "exit").strip() == "0", f"exit status {text(folder, 'exit')}")
    complaints = re.findall(r"^profd: (?:error|warning): .*", text(folder, "log"), re.M)
    complaints = [line for line in complaints if not may_warn or may_warn not in line]
    expect(not complaints, "\n".join(complaints))
    return "all on"


def heap_needs_root(folder):
    """profd refuses /heap where uprobes are perf events, which need CAP_SYS_ADMIN."""
    said = text(folder, "heap.pb.gz").strip()
    expect("CAP_SYS_ADMIN" in said and "\n" not in said, f"it said: {said[:200]!r}")
    return said


def status_without_gpus(folder):
    return status(folder, lambda kind: kind.startswith("gpu_"), "this kernel requires CAP_SYS_ADMIN for uprobes")


JUDGES = (cpu, stacks, rss, mmap, heap, memory, oom, waits, gpu_memory, gpu_launch, status)
# For kernels where uprobes are perf events, and a profd with only some of root's capabilities.
JUDGES_OF_FEW = {heap: heap_needs_root, gpu_memory: gpus_need_root, gpu_launch: gpus_need_root,
                 status: status_without_gpus}


def refused(folder, because):
    """profd did not start, and said why in one line."""
    complaints = re.findall(r"^profd: (?:error|warning): (.*)", text(folder, "log"), re.M)
    expect(text(folder, "exit").strip() not in ("0", "143"), "it started")
    expect(len(complaints) == 1 and because in complaints[0], f"it said: {complaints}")
    return complaints[0]
