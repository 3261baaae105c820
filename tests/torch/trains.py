# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A network of two layers, trained on the CPU. Led by lines: `train` trains for some steps, `keep` takes tensors
of known sizes and keeps them, `drop` lets half of them go. Lines that matter end in "# -> NAME". After each: a
line of JSON with the bytes that are kept, and those that the forward pass of each layer needs at least.
"""

import ctypes
import json
import os
import sys
import time
import warnings

# Frameworks are watched in processes that have CUDA's driver.
ctypes.CDLL(os.environ["STAND_IN_DRIVER"])

warnings.filterwarnings("ignore")  # that there is no NumPy

import torch  # noqa: E402

BATCH, WIDTH, HIDDEN, STEPS = 64, 256, 1024, 20

kept = []
forward = {"hidden": 0, "output": 0}


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(WIDTH, HIDDEN)
        self.second = torch.nn.Linear(HIDDEN, WIDTH)

    def forward(self, batch):
        hidden = self.first(batch)  # -> hidden
        return self.second(torch.relu(hidden))  # -> output


def train(network, optimizer):
    for _ in range(STEPS):
        time.sleep(0.1)  # of a thousand small tensors a second not all are asked for their stacks
        batch = torch.randn(BATCH, WIDTH)
        optimizer.zero_grad()
        loss = (network(batch) - batch).square().mean()
        loss.backward()  # -> backward
        optimizer.step()
        forward["hidden"] += BATCH * HIDDEN * 4
        forward["output"] += BATCH * WIDTH * 4 + BATCH * HIDDEN * 4


def keep():
    for i in range(20):
        time.sleep(0.005)
        kept.append(torch.empty(10000 + i, dtype=torch.float32))  # -> keep


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "train\n":
            train(network, optimizer)
        elif line == "keep\n":
            keep()
        elif line == "drop\n":
            del kept[::2]
        held = sum(tensor.numel() * 4 for tensor in kept)
        print(json.dumps({"kept": held, "kept_objects": len(kept), "forward": forward}), flush=True)


main()
