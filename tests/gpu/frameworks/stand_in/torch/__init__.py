# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A stand-in for the part of PyTorch that programs/torch_program.py uses, on the stand-ins for CUDA's driver and for libc10.

Tensors have a size and no contents, and each operation is a launch. As in PyTorch, the allocator reports each tensor to libc10, and can
be made to map physical memory or to use CUDA's pool, whose tensors it does not report. Importing it takes a moment too, in which a daemon
places its probes.
"""

import contextlib
import ctypes
import os
import time
from ctypes import byref, c_long, c_short, c_size_t, c_uint, c_uint64, c_void_p

HOST_BYTES = 80 << 20
PHYSICAL_GRAIN = 2 << 20
IMPORT_SECONDS = 2

_driver, _c10 = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libc10.so")
_report = _c10._ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
_report.argtypes, _report.restype = [c_void_p, c_long, c_size_t, c_size_t, c_short], None
_FIRST_GPU = 1  # libc10's c10::Device
_setting = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
_host = ctypes.create_string_buffer(HOST_BYTES)
_host_at = c_void_p(ctypes.addressof(_host))
_used = _reserved = 0

bfloat16, float32, uint8 = "bfloat16", "float32", "uint8"
_ITEM_BYTES = {bfloat16: 2, float32: 4, uint8: 1}


class version:
    cuda = "stand-in"


def _call(name, *arguments):
    result = getattr(_driver, name)(*arguments)
    if result:
        raise cuda.OutOfMemoryError(f"{name} gave {result}")


class _Property(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [("type", c_uint), ("handles", c_uint), ("place", c_uint), ("device", c_uint), ("more", c_uint64 * 2)]


def _whole(size):
    """The memory that a tensor takes."""
    return (size + PHYSICAL_GRAIN - 1) // PHYSICAL_GRAIN * PHYSICAL_GRAIN if "expandable" in _setting else size


def _take(size):
    global _used, _reserved
    at, whole = c_uint64(), c_size_t(_whole(size))
    if "expandable" in _setting:
        handle = c_uint64()
        _call("cuMemCreate", byref(handle), whole, byref(_Property(1, 0, 1, 0)), c_uint64(0))
        _call("cuMemAddressReserve", byref(at), whole, c_size_t(0), c_uint64(0), c_uint64(0))
        _call("cuMemMap", at, whole, c_size_t(0), handle, c_uint64(0))
        _call("cuMemRelease", handle)
    elif "Async" in _setting:
        _call("cuMemAllocAsync", byref(at), c_size_t(size), c_void_p())
    else:
        _call("cuMemAlloc_v2", byref(at), c_size_t(size))
    _used += size
    _reserved += whole.value
    if "Async" not in _setting:
        _report(at.value, size, _used, _used, _FIRST_GPU)
    return at


def _give_back(at, size):
    global _used, _reserved
    _used -= size
    _reserved -= _whole(size)
    if "Async" in _setting:
        _call("cuMemFreeAsync", at, c_void_p())
        return
    _report(at.value, -size, _used, _used, _FIRST_GPU)
    if "expandable" in _setting:
        _call("cuMemUnmap", at, c_size_t(_whole(size)))
        _call("cuMemAddressFree", at, c_size_t(_whole(size)))
    else:
        _call("cuMemFree_v2", at)


def _functions():
    context, module, found = c_void_p(), c_void_p(), {}
    _call("cuInit", 0)
    _call("cuDevicePrimaryCtxRetain", byref(context), 0)
    _call("cuCtxSetCurrent", context)
    _call("cuModuleLoadData", byref(module), b"image")
    for name in ("gemm", "vectorized_add"):
        found[name] = c_void_p()
        _call("cuModuleGetFunction", byref(found[name]), module, name.encode())
    return found


def _launch(name):
    one, threads = c_uint(1), c_uint(64)
    _call("cuLaunchKernel", _kernels[name], one, one, one, threads, one, one, c_uint(0), c_void_p(), c_void_p(), c_void_p())


class Tensor:
    at = None

    def __init__(self, size, device):
        self.size, self.device, self.grad = size, device, None
        if device:
            self.at = _take(size)

    def __del__(self):
        if self.at:
            _give_back(self.at, self.size)

    def __getitem__(self, part):
        return _View(self, part.stop)

    def pin_memory(self):
        return self

    def copy_(self, other, non_blocking=False):
        if not other.at:
            _call("cuMemcpyHtoDAsync_v2", self.at, _host_at, c_size_t(self.size), c_void_p())
        elif not self.at:
            _call("cuMemcpyDtoHAsync_v2", _host_at, other.at, c_size_t(self.size), c_void_p())
        else:
            _call("cuMemcpyDtoDAsync_v2", self.at, other.at, c_size_t(self.size), c_void_p())

    def add_(self, number):
        _launch("vectorized_add")

    def requires_grad_(self):
        _with_grad.append(self)
        return self

    def backward(self):
        for tensor in _with_grad:
            tensor.grad = self

    def item(self):
        return 0.0

    def _launched(self, *arguments, **named):
        _launch("gemm")
        return self

    __matmul__ = __sub__ = __isub__ = __rmul__ = __truediv__ = sum = square = mean = _launched


class _View(Tensor):
    def __init__(self, of, size):
        self.of, self.at, self.size = of, of.at, size

    def __del__(self):
        pass


def empty(*shape, dtype=float32, device=None):
    size = _ITEM_BYTES[dtype]
    for number in shape:
        size *= number
    return Tensor(size, device)


randn = zeros = empty


def empty_like(tensor):
    return Tensor(tensor.size, tensor.device)


def mm(left, right, out):
    _launch("gemm")


def relu(tensor):
    _launch("vectorized_add")
    return tensor


def no_grad():
    return contextlib.nullcontext()


class cuda:
    """The module torch.cuda."""

    class OutOfMemoryError(RuntimeError):
        pass

    class CUDAGraph:
        def replay(self):
            _launch("gemm")

    Stream = contextlib.nullcontext

    @staticmethod
    def graph(graph):
        return contextlib.nullcontext()

    @staticmethod
    def stream(stream):
        return stream

    @staticmethod
    def synchronize():
        _call("cuCtxSynchronize")

    @staticmethod
    def memory_allocated():
        return _used

    @staticmethod
    def memory_reserved():
        return _reserved

    @staticmethod
    def empty_cache():
        pass


_with_grad = []
time.sleep(IMPORT_SECONDS)
_kernels = _functions()
