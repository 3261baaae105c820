# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Prints the results as tables for people, with the figures of other profilers beside them."""

import own_cost
import peers
import sample_cost
import start_cost
import table_time


def table(head, lines):
    """Prints columns as wide as their widest cells, the first one left-aligned."""
    cells = [head, *lines]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    for line in cells:
        first, *others = (cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths)))
        print("  " + "  ".join([first, *others]).rstrip(), flush=True)


def percent(value):
    return f"{value:+.1f}"


def slowdown(rows, result, repetitions):
    names = list(next(iter(result.values()))["to"])
    print(f"\nCPU time of programs, more by %: median of the ratios of {repetitions} interleaved runs, [quartiles], "
          "and of the quickest runs\n"
          f"(then: profd before, OTel, lightswitch: {peers.NOTE})")
    head = ["", "s a run", "spread"]
    for name in names:
        head += [name, "[quartiles]", "quickest"]
    lines = []
    for row in rows:
        one = result[row.name]
        line = [row.title, f"{one['seconds']:.2f}", f"{one['spread']:.1f}"]
        for name in names:
            to = one["to"][name]
            low, high = map(percent, to["quartiles"])
            line += [percent(to["cpu"]), f"[{low} {high}]", percent(to["quickest"])]
        lines.append(line + peers.columns(peers.SLOWDOWN, row.name))
    table([*head, "then", "OTel", "lightswitch"], lines)


def own(variant, result):
    print(f"\n{variant}: CPU seconds a minute of its control group, readers included, and of BPF, which runs in the "
          "time of programs\n"
          f"(then, sum of both: {peers.NOTE})")
    lines = []
    for state, (title, _) in own_cost.STATES.items():
        one = result["states"][state]
        lines.append([
            title, f"{one['cpu']:.3f}", f"{one['bpf']:.3f}", f"{one['cpu'] + one['bpf']:.3f}",
            f"{one['processes_per_second']:.0f}",
            f"{one['us_per_process']:.0f}" if one["processes_per_second"] > 100 else "-",
            *peers.columns(peers.OWN_CPU, state),
        ])
    table(["", "own", "BPF", "sum", "processes/s", "us each", "then", "OTel", "lightswitch"], lines)
    print(f"\n{variant}: what became of the ticks of {own_cost.WINDOW} s ('missed' never came: a CPU slept, or the "
          "hypervisor had it)")
    lines = []
    for (title, _), one in zip(own_cost.STATES.values(), result["states"].values()):
        ticks = one["ticks"]
        share = 100 * ticks["lost"] / max(ticks["ticks"], 1)
        lines.append([title, *(f"{ticks[fate]:.0f}" for fate in own_cost.FATES), f"{share:.2f} %"])
    table(["", *own_cost.FATES, "share lost"], lines)
    memory(variant, result)


def memory(variant, result):
    if None in result["memory"].values():
        print(f"\n{variant}: memory is not known: no control group counts it here")
        return
    print(f"\n{variant}: MiB as the control group counts them, without the page cache; the peak was {result['peak']:.1f}\n"
          f"(then: {peers.NOTE})")
    lines = []
    for moment, one in result["memory"].items():
        lines.append([
            moment, f"{one['user'] + one['kernel']:.1f}", f"{one['user']:.1f}", f"{one['kernel']:.1f}", f"{one['maps']:.1f}",
            f"{one['daemon_rss']:.1f}", *peers.columns(peers.MEMORY, moment),
        ])
    table(["", "all", "user", "kernel", "BPF maps", "daemon's RSS", "then", "OTel", "lightswitch"], lines)


def sample(variant, result):
    print(f"\n{variant}: BPF time of one sample, without frame pointers (then: {peers.NOTE})")
    lines = []
    for way, (title, _, _) in sample_cost.WAYS.items():
        for frames, cost in result[way].items():
            beside = peers.columns(peers.SAMPLE, frames) if way == "usual" else ["-"] * 3
            lines.append([f"{frames} frames, {title}", f"{cost['ns'] / 1000:.2f}", f"{cost['frames']:.1f}", *beside])
    table(["", "us", "frames", "then", "OTel", "lightswitch"], lines)


def start(variant, result):
    print(f"\n{variant}: a start, and answers of {start_cost.ASKED}: medians of {start_cost.DAEMONS} daemons\n"
          f"(then: {peers.NOTE})")
    rows = (
        ("first_sample", "start to first sample, ms", 0, None),
        ("first_cpu", "CPU seconds until then", 2, None),
        ("start_cpu", f"... of the first {start_cost.START_SECONDS} s", 2, None),
        ("cold_answer", "first answer, with names, ms", 0, "slowest_cold_answer"),
        ("answer", f"the {start_cost.TIMES} answers after it, ms", 0, "slowest_answer"),
    )
    table(["", "", "at most", "then"], [
        [title, f"{result[name]:.{digits}f}", f"{result[most]:.0f}" if most else "", peers.START.get(name, "-")]
        for name, title, digits, most in rows
    ])


def tables(variant, result):
    print(f"\n{variant}: ms of CPU time that stacks are cut short after exec: mean of {table_time.RUNS} daemons, each of "
          f"which samples every {1000 / table_time.HZ:.0f} ms\n(then: {peers.NOTE})")
    lines = []
    for name, title in (("small", "a small program"), ("large", "a compiler in libLLVM")):
        one = result[name]
        if one is None:
            print(f"  skipped: {title} (there is no clang that is linked with libLLVM)")
            continue
        lines.append([title, f"{one['mean']:.0f}", f"{one['most']:.0f}", peers.TABLES.get(name, "-"), f"{one['peak']:.1f}",
                      reasons(one["why"])])
    table(["", "mean", "most", "then", "peak of memory, MiB", "cut by"], lines)
    crowd = result["crowd"]
    print(f"  {crowd['programs']} programs that start at once: {crowd['cut']:.1f} % of the stacks of their first "
          f"{table_time.CROWD_SECONDS} s are cut short (then {peers.TABLES['crowd']} %): {reasons(crowd['why'])}")


def reasons(why):
    return ", ".join(f"{reason} {count}" for reason, count in sorted(why.items(), key=lambda pair: -pair[1])) or "nothing"
