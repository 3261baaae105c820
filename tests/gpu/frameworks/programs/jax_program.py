# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""JAX on the first GPU. Truth: each call of a compiled function at the line of `calls` launches the same kernels, so gpu_launch must have a
multiple of their number there. `keep` makes arrays of 256 MiB at its line, and `put` of 64 MiB, which gpu_tensor must have; `stats` says
what XLA's allocator has in use.
"""

import jax
import jax.numpy as jnp
import numpy
from commands import MIB, serve

assert jax.devices()[0].platform == "gpu", jax.devices()
kept = []
made = {}


@jax.jit
def layer(x, w):
    return jnp.tanh(x @ w) * 0.5 + x


def stats():
    said = jax.local_devices()[0].memory_stats() or {}
    return {"bytes_in_use": said.get("bytes_in_use")}


def finish(value):
    value.block_until_ready()  # -> finish


def calls(times=50):
    x = made["x"]
    for _ in range(times):
        x = layer(x, made["w"])  # -> calls
    finish(x)
    return {"calls": times}


def keep():
    for i in range(4):
        kept.append(jnp.full((16 * MIB,), float(i), dtype=jnp.float32))  # -> keep
    finish(kept[-1])
    return {"bytes": 256 * MIB, **stats()}


def put():
    for _ in range(2):
        kept.append(jax.device_put(numpy.ones(8 * MIB, dtype=numpy.float32)))  # -> put
    finish(kept[-1])
    return {"bytes": 64 * MIB, **stats()}


def forget():
    kept.clear()
    return stats()


made["x"] = jnp.ones((2048, 2048), dtype=jnp.float32)
made["w"] = jnp.ones((2048, 2048), dtype=jnp.float32) / 2048
calls(3)
serve({"calls": calls, "keep": keep, "put": put, "forget": forget, "stats": stats})
