# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Triton on the first GPU. Truth: `launch` launches the kernel profd_triton_add so many times, at the line with its mark; gpu_launch must
have that number there, and the name.
"""

import torch
import triton
import triton.language as tl
from commands import MIB, serve


@triton.jit
def profd_triton_add(at, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(at + i, tl.load(at + i, mask=i < n) + 1, mask=i < n)


x = torch.zeros(MIB, device="cuda")


def launch(times=120):
    for _ in range(times):
        profd_triton_add[(MIB // 1024,)](x, MIB, BLOCK=1024)  # -> launch
    torch.cuda.synchronize()
    return {"launches": times, "kernel": "profd_triton_add"}


launch(3)
serve({"launch": launch})
