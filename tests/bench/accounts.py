# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks for long runs, which hold of a daemon whatever happens to it: its counters add up, its answers can be
parsed and are true, and it does not grow.
"""

import collections
import json
import math
import re

from profile_pb import Profile

SHARES = {"hot60": 60, "hot30": 30, "hot10": 10}  # percent, of the workload spin60_30_10
ENOUGH = 150                                      # samples that are enough to judge the shares


class Wrong(Exception):
    """A check failed."""


def check_accounts(daemon):
    """Returns the daemon's metrics; every tick must be counted as a sample, as idle or as lost."""
    metrics = daemon.metrics()
    parts = sum(metrics[f"profd_{name}_total"] for name in ("samples", "idle", "tallies_lost"))
    if metrics["profd_ticks_total"] != parts:
        raise Wrong(f"{metrics['profd_ticks_total']} ticks but {parts} accounted for")
    return metrics


def check_comments(profile):
    """Checks the same for the time that one profile covers."""
    for comment in profile.comments:
        if re.fullmatch(r"samples=\d+ lost=\d+", comment):
            return  # a kind of profile that no timer ticks for
        found = re.fullmatch(r"ticks=(\d+) idle=(\d+) samples=(\d+) lost=(\d+)(?: missed=\d+)?", comment)
        if found:
            ticks, *fates = map(int, found.groups())
            if ticks != sum(fates):
                raise Wrong(f"a profile says {comment}")
            return
    raise Wrong(f"a profile does not say what became of its ticks: {profile.comments}")


def lost_ticks(profile):
    """Returns how many ticks were lost in the time that the profile covers."""
    return sum(int(re.search(r" lost=(\d+)", comment).group(1)) for comment in profile.comments if comment.startswith("ticks="))


def check_answer(target, answer):
    """Checks that the request succeeded and that the answer has the requested format."""
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


def check_shares(daemon, profile):
    """Checks that the profile has the shares of spin60_30_10; False when it has too few samples to tell.

    When the maps are full, the last ticks are lost, not a random selection. Profiles with lost ticks are therefore not
    judged. Samples whose stack found no room in the maps have no names.
    """
    total = profile.total(where=lambda sample: not SHARES.keys().isdisjoint(sample.names))
    if total < ENOUGH or lost_ticks(profile):
        return False
    for leaf, share in SHARES.items():
        found = 100 * profile.total(where=lambda sample, leaf=leaf: leaf in sample.names) / total
        # Five standard deviations: half an hour looks some 600 times, and one in 16,000 is beyond four by chance.
        if abs(found - share) > max(4, 500 * math.sqrt(share * (100 - share) / total) / 100):
            raise Wrong(f"{leaf} has {found:.1f} % of {total} samples, and does {share} % of the work: {told_of(daemon, profile)}")
    return True


def names_of(profile):
    """Describes what a profile contains, for the error message."""
    names, addresses = collections.Counter(), collections.Counter()
    for sample in profile.samples:
        names[sample.names[0] if sample.names else "no frames"] += sample.count
        if sample.locations:
            addresses[f"{profile.locations[sample.locations[0]][1]:x}"] += sample.count
    return f"{names.most_common(6)}; {addresses.most_common(8)}; {profile.comments}"


def told_of(daemon, profile):
    """Describes what such a profile contains instead, and what the daemon knows of files, for the error message."""
    files = {name: count for name, count in daemon.metrics().items()
             if count and name.startswith(("profd_objects", "profd_opener", "profd_readers", "profd_mapp"))}
    return f"{names_of(profile)}; {files}"


def size_of(daemon):
    """Returns (KiB of memory, descriptors without those of executable files, which the daemon keeps open by design)."""
    objects = daemon.get("/status").json()["objects"]["objects"]
    return daemon.rss_kib(), daemon.fd_count() - objects
