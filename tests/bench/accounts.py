# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What must hold of a daemon whatever happens to it, for long runs: its accounts add up, its answers can
be read and are true, and it does not grow.
"""

import collections
import json
import math
import re

from profile_pb import Profile

SHARES = {"hot60": 60, "hot30": 30, "hot10": 10}  # of the workload spin60_30_10
ENOUGH = 150                                      # samples to judge them by


class Wrong(Exception):
    """Something that must hold does not."""


def check_accounts(daemon):
    """Its metrics, in which every tick has a fate."""
    metrics = daemon.metrics()
    parts = sum(metrics[f"profd_{name}_total"] for name in ("samples", "idle", "tallies_lost"))
    if metrics["profd_ticks_total"] != parts:
        raise Wrong(f"{metrics['profd_ticks_total']} ticks but {parts} accounted for")
    return metrics


def check_comments(profile):
    """The same of the time that one profile covers."""
    for comment in profile.comments:
        if re.fullmatch(r"samples=\d+ lost=\d+", comment):
            return  # of a kind that no timer ticks for
        found = re.fullmatch(r"ticks=(\d+) idle=(\d+) samples=(\d+) lost=(\d+)(?: missed=\d+)?", comment)
        if found:
            ticks, *fates = map(int, found.groups())
            if ticks != sum(fates):
                raise Wrong(f"a profile says {comment}")
            return
    raise Wrong(f"a profile does not say what became of its ticks: {profile.comments}")


def lost_ticks(profile):
    """How many the time that it covers has lost."""
    return sum(int(re.search(r" lost=(\d+)", comment).group(1)) for comment in profile.comments if comment.startswith("ticks="))


def check_answer(target, answer):
    """It was given, and is what its format says."""
    if answer.status != 200 or not answer.body:
        raise Wrong(f"{target}: {answer.status} {answer.body[:200]!r}")
    if target.startswith("/profile") and "format=" not in target:
        check_comments(Profile(answer.body))
    elif "format=folded" in target:
        bad = [line for line in answer.text.splitlines() if not re.fullmatch(r".* \d+", line)]
        if bad:
            raise Wrong(f"{target}: not a folded stack: {bad[0]!r}")
    elif target.startswith(("/status", "/processes", "/oom", "/timeline")):
        json.loads(answer.body)


def check_shares(profile):
    """Whether it says of spin60_30_10 what that does; false when it has too few samples to tell.

    What is lost when the maps are full is what came last, not what chance chose: such times are not judged. Samples
    whose stack found no room have no names.
    """
    total = profile.total(where=lambda sample: not SHARES.keys().isdisjoint(sample.names))
    if total < ENOUGH or lost_ticks(profile):
        return False
    for leaf, share in SHARES.items():
        found = 100 * profile.total(where=lambda sample, leaf=leaf: leaf in sample.names) / total
        if abs(found - share) > max(4, 400 * math.sqrt(share * (100 - share) / total) / 100):
            raise Wrong(f"{leaf} has {found:.1f} % of {total} samples, and does {share} % of the work")
    return True


def told_of(profile):
    """What such a profile has instead, for the message."""
    names = collections.Counter()
    for sample in profile.samples:
        names[sample.names[0] if sample.names else "no frames"] += sample.count
    return f"{names.most_common(5)}; {profile.comments}"


def size_of(daemon):
    """(KiB of memory, descriptors beside those of executables, which are kept open by design)."""
    objects = daemon.get("/status").json()["objects"]["objects"]
    return daemon.rss_kib(), daemon.fd_count() - objects
