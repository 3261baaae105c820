# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Asks CUDA's driver for the addresses of all functions that profd watches, as the runtime and frameworks do, in several versions and
for both kinds of default stream. profd has probes at exported symbols only, so each address must be that of a symbol of profd's list.
"""

import ctypes
import os
import re
import struct

from commands import serve

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
VERSIONS = (11040, 12000, 12080, 13000)
LEGACY_STREAM, PER_THREAD_STREAM = 1, 2
KINDS = re.compile(r"^cu(Mem(Alloc|Free|cpy|set|Create|Map|Release|Pool|Unmap|Import|Export|Prefetch)|Launch|GraphLaunch|GraphInst|"
                   r"GraphUpload|Array|Mipmapped|(Stream|Ctx|Event)(Synch|Wait|Create|Destroy)|Module|Library|Kernel|Func|GreenCtx|"
                   r"DevicePrimary|Multicast|External)")
DYNAMIC_SYMBOLS, FUNCTION = 11, 2

cuda = ctypes.CDLL("libcuda.so.1")
get = cuda.cuGetProcAddress_v2
get.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p]


def listed_functions():
    """The driver's functions in profd's list."""
    with open(os.path.join(ROOT, "daemon", "gpu", "calls.h"), encoding="utf-8") as file:
        names = re.findall(r"\((cu[A-Z]\w+)", file.read())
    return {name for name in names if not name.startswith("cuda")}


def loaded_at():
    """Returns (path, address) of the driver."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        line = next(line for line in maps if "libcuda.so" in line)
    return line.split()[-1], int(line.partition("-")[0], 16)


def exported_functions(path):
    """Returns name -> offset."""
    with open(path, "rb") as file:
        data = file.read()
    at, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
    found = {}
    for s in sections:
        if s[1] != DYNAMIC_SYMBOLS:
            continue
        strings = sections[s[6]][4]
        for at in range(s[4], s[4] + s[5], 24):
            name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            if section and info & 15 == FUNCTION:
                found[data[strings + name:data.index(b"\0", strings + name)].decode()] = value
    return found


def plain(name):
    """The name of a symbol without the suffix of the variant for per-thread streams."""
    return re.sub(r"_pts[zd]$|_ptds$", "", name)


def entries():
    listed = listed_functions()
    path, base = loaded_at()
    exported = exported_functions(path)
    names_at = {}
    for name, value in exported.items():
        names_at.setdefault(value, []).append(name)
    names = {re.sub(r"_v\d+$", "", name) for name in listed}
    addresses, missed = 0, set()
    for name in sorted(names):
        for version in VERSIONS:
            for flags in (LEGACY_STREAM, PER_THREAD_STREAM):
                address, status = ctypes.c_void_p(), ctypes.c_int()
                result = get(name.encode(), ctypes.byref(address), version, flags, ctypes.byref(status))
                if result or not address.value:
                    continue
                addresses += 1
                at = names_at.get(address.value - base, [])
                if not any(plain(symbol) in listed for symbol in at):
                    missed.add((name, version, flags, " ".join(at), hex(address.value - base)))
    driver = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(driver))
    return {"version": driver.value, "names": len(names), "addresses": addresses, "not_probed": sorted(missed),
            "not_listed": sorted(name for name in exported if KINDS.match(name) and plain(name) not in listed)}


serve({"entries": entries})
