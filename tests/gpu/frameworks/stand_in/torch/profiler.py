# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A stand-in for torch.profiler: it reports twenty launches, whatever has been launched."""


class ProfilerActivity:
    CUDA = "CUDA"


class _Time:
    @staticmethod
    def elapsed_us():
        return 5.0


class _Event:
    device_type, time_range = "DeviceType.CUDA", _Time

    def __init__(self, name):
        self.name = name


class profile:
    def __init__(self, activities):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def events(self):
        return [_Event("gemm")] * 20 + [_Event("Memset (Device)")]
