# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Calls of the driver by ctypes, without a framework. Truth: each command NAME allocates so many bytes of one kind of memory, at the line
with its mark, and gpu_memory must have as many more in use; NAME_free frees them. `copies` makes copies of every direction, whose number
and bytes gpu_copy must have.
"""

import ctypes
import mmap
from ctypes import byref, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p

from commands import MIB, serve

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        raise RuntimeError(f"{name} gave {result}")


class Array(ctypes.Structure):
    _fields_ = [("w", c_size_t), ("h", c_size_t), ("format", c_int), ("channels", c_uint)]


class Array3D(ctypes.Structure):
    _fields_ = [("w", c_size_t), ("h", c_size_t), ("d", c_size_t), ("format", c_int), ("channels", c_uint), ("flags", c_uint)]


class Prop(ctypes.Structure):
    _fields_ = [("type", c_int), ("handles", c_int), ("place", c_int), ("id", c_int), ("win32", c_void_p), ("flags", c_ubyte * 8)]


class Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D: s is the source, d the destination."""

    _fields_ = [("sx", c_size_t), ("sy", c_size_t), ("stype", c_int), ("shost", c_void_p), ("sdev", c_uint64), ("sarray", c_void_p),
                ("spitch", c_size_t), ("dx", c_size_t), ("dy", c_size_t), ("dtype", c_int), ("dhost", c_void_p), ("ddev", c_uint64),
                ("darray", c_void_p), ("dpitch", c_size_t), ("w", c_size_t), ("h", c_size_t)]


FLOAT = 0x20
kept = {}
context = c_void_p()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", byref(context), 0)
call("cuCtxSetCurrent", context)
one, two = c_uint64(), c_uint64()
call("cuMemAlloc_v2", byref(one), c_size_t(8 * MIB))
call("cuMemAlloc_v2", byref(two), c_size_t(8 * MIB))
host = mmap.mmap(-1, 16 * MIB)
host_at = ctypes.addressof(ctypes.c_char.from_buffer(host))


def managed():
    kept["managed"] = c_uint64()
    call("cuMemAllocManaged", byref(kept["managed"]), c_size_t(64 * MIB), c_uint(1))  # -> managed
    return {"bytes": 64 * MIB}


def managed_free():
    call("cuMemFree_v2", kept["managed"])


def pitch():
    kept["pitch"], width = c_uint64(), c_size_t()
    call("cuMemAllocPitch_v2", byref(kept["pitch"]), byref(width), c_size_t(1000), c_size_t(4096), c_uint(4))  # -> pitch
    return {"bytes": width.value * 4096}


def pitch_free():
    call("cuMemFree_v2", kept["pitch"])


def array():
    kept["array"] = c_void_p()
    call("cuArrayCreate_v2", byref(kept["array"]), byref(Array(1024, 512, FLOAT, 4)))  # -> array
    return {"bytes": 1024 * 512 * 16}


def array_free():
    call("cuArrayDestroy", kept["array"])


def array3d():
    kept["array3d"] = c_void_p()
    call("cuArray3DCreate_v2", byref(kept["array3d"]), byref(Array3D(256, 256, 16, FLOAT, 1, 0)))  # -> array3d
    return {"bytes": 256 * 256 * 16 * 4}


def array3d_free():
    call("cuArrayDestroy", kept["array3d"])


def mipmap():
    kept["mipmap"] = c_void_p()
    call("cuMipmappedArrayCreate", byref(kept["mipmap"]), byref(Array3D(1024, 1024, 0, FLOAT, 1, 0)), c_uint(3))  # -> mipmap
    return {"bytes": (1024 * 1024 + 512 * 512 + 256 * 256) * 4}


def mipmap_free():
    call("cuMipmappedArrayDestroy", kept["mipmap"])


def physical():
    handle, at = c_uint64(), c_uint64()
    call("cuMemCreate", byref(handle), c_size_t(64 * MIB), byref(Prop(1, 0, 1, 0)), c_uint64(0))  # -> physical
    call("cuMemAddressReserve", byref(at), c_size_t(64 * MIB), c_size_t(0), c_uint64(0), c_uint64(0))
    call("cuMemMap", at, c_size_t(64 * MIB), c_size_t(0), handle, c_uint64(0))
    call("cuMemRelease", handle)
    kept["physical"] = at
    return {"bytes": 64 * MIB}


def physical_free():
    call("cuMemUnmap", kept["physical"], c_size_t(64 * MIB))
    call("cuMemAddressFree", kept["physical"], c_size_t(64 * MIB))


def pool():
    kept["pool"] = c_uint64()
    call("cuMemAllocAsync", byref(kept["pool"]), c_size_t(32 * MIB), c_void_p(0))  # -> pool
    return {"bytes": 32 * MIB}


def pool_free():
    call("cuMemFreeAsync", kept["pool"], c_void_p(0))
    call("cuCtxSynchronize")


def pinned():
    kept["pinned"] = c_void_p()
    call("cuMemHostAlloc", byref(kept["pinned"]), c_size_t(16 * MIB), c_uint(0))  # -> pinned
    return {"bytes": 16 * MIB}


def pinned_free():
    call("cuMemFreeHost", kept["pinned"])


def registered():
    call("cuMemHostRegister_v2", c_void_p(host_at), c_size_t(16 * MIB), c_uint(0))  # -> registered
    return {"bytes": 16 * MIB}


def registered_free():
    call("cuMemHostUnregister", c_void_p(host_at))


def destroyed():
    """Memory of a context that is destroyed."""
    mine, at = c_void_p(), c_uint64()
    call("cuCtxCreate_v2", byref(mine), c_uint(0), c_int(0))
    kept["mine"] = mine
    call("cuMemAlloc_v2", byref(at), c_size_t(48 * MIB))  # -> destroyed
    return {"bytes": 48 * MIB}


def destroyed_free():
    call("cuCtxDestroy_v2", kept["mine"])
    call("cuCtxSetCurrent", context)


def reset():
    """What is left in the primary context goes."""
    call("cuDevicePrimaryCtxReset_v2", c_int(0))


def copies():
    for _ in range(5):
        call("cuMemcpyHtoD_v2", one, c_void_p(host_at), c_size_t(MIB))  # -> copies
    for _ in range(3):
        call("cuMemcpyDtoH_v2", c_void_p(host_at), one, c_size_t(2 * MIB))
    for _ in range(4):
        call("cuMemcpyDtoD_v2", two, one, c_size_t(4 * MIB))
    call("cuMemcpyHtoDAsync_v2", one, c_void_p(host_at), c_size_t(3 * MIB), c_void_p(0))
    call("cuMemcpyAsync", two, one, c_size_t(MIB), c_void_p(0))
    what = Copy2D(stype=1, shost=host_at, spitch=4096, dtype=2, ddev=one.value, dpitch=4096, w=1000, h=512)
    call("cuMemcpy2D_v2", byref(what))
    call("cuMemcpy2DAsync_v2", byref(what), c_void_p(0))
    call("cuMemsetD8_v2", one, c_ubyte(1), c_size_t(MIB))
    call("cuMemsetD32Async", one, c_uint(1), c_size_t(MIB), c_void_p(0))
    call("cuMemsetD2D8_v2", one, c_size_t(4096), c_ubyte(1), c_size_t(1000), c_size_t(512))
    call("cuCtxSynchronize")
    return {"HtoD": [8, 5 * MIB + 3 * MIB + 2 * 512000], "DtoH": [3, 6 * MIB], "DtoD": [4, 16 * MIB], "unknown": [1, MIB],
            "memset": [3, 5 * MIB + 512000]}


COMMANDS = (managed, managed_free, pitch, pitch_free, array, array_free, array3d, array3d_free, mipmap, mipmap_free, physical,
            physical_free, pool, pool_free, pinned, pinned_free, registered, registered_free, destroyed, destroyed_free, reset, copies)
serve({command.__name__: command for command in COMMANDS})
