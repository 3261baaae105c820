# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Trains a network of two layers on the CPU. It reads commands as lines: `train` trains for some steps, `keep` allocates
tensors of known sizes and keeps them, `drop` frees half of them. The tests find source lines by their "# -> NAME" at the end.
After each command it prints a line of JSON with the bytes that are kept, and the least bytes that the forward pass of each
layer has needed.
"""

import ctypes
import json
import os
import sys
import time
import warnings

# profd watches frameworks only in processes that have CUDA's driver.
ctypes.CDLL(os.environ["STAND_IN_DRIVER"])

warnings.filterwarnings("ignore")  # of a missing NumPy

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
        time.sleep(0.1)  # slow enough that every tensor gets a stack: of a thousand small ones a second, not all would
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
