# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The daemon's figures at the end of a run: the devices and processes of /gpu, and its counters of losses."""

import json

from checking import judge, keep, lacks
from profiles import query


def gpu_page(server, programs):
    query(server, "/gpu?format=text", "gpu.txt")
    said = query(server, "/gpu", "gpu.json").json()
    judge("nvml", said["nvml"]["on"], said["nvml"].get("why", ""))
    judge("nvml-devices", len(said["devices"]) >= 1, json.dumps(said["devices"])[:400])
    pids = {row["pid"] for row in said["driver"]}
    if programs and not pids:
        lacks("processes in NVML's lists")
    for program in programs:
        if program.alive():
            if pids:
                judge(f"nvml-has-{program.label}", program.pid in pids, f"{program.pid} in {sorted(pids)}")
            judge(f"gpu-has-{program.label}", any(row["pid"] == program.pid for row in said["processes"]))


def losses(server):
    keep("metrics.txt", query(server, "/metrics").body)
    keep("status.json", query(server, "/status").body)
    lost = {name: value for name, value in server.metrics().items() if name.startswith("profd_gpu") and "lost" in name and value}
    judge("no-gpu-loss", not lost, f"{lost or ''}")
