#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes stubs of the libraries that PyTorch's wheel is linked with but does not use without a GPU: CUDA's runtime,
cuBLAS, cuDNN and so on, 3 GB. A stub has the names that the wheel looks up, and each of its functions fails.

    stubs.py FOLDER_OF_TORCH_LIBRARIES FOLDER
"""

import collections
import glob
import os
import re
import subprocess
import sys

FAILS = "\tmov $100, %eax\n\tret\n"  # cudaErrorNoDevice
POINTS = "\tlea 1f(%rip), %rax\n\tret\n1:\t.zero 64\n"
POINTERS = ("__cudaRegisterFatBinary", "cudaGetErrorString", "cudaGetErrorName")
PREFIXES = re.compile(r"(__)?(cu|nv|nccl|CU)")


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d", path)))


def files_of_versions(path):
    """Returns version -> the library that must have it."""
    versions, file = {}, None
    for line in readelf("-V", path).splitlines():
        named = re.search(r"File: (\S+)\s+Cnt", line)
        if named:
            file = named[1]
        version = re.search(r"\s+Name: (\S+)\s+Flags", line)
        if version and file:
            versions[version[1]] = file
    return versions


def symbols(path):
    """Returns (undefined, defined) names, as readelf writes them: name or name@version."""
    undefined, defined = set(), set()
    for line in readelf("--dyn-syms", path).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].endswith(":") and fields[4] in ("GLOBAL", "WEAK"):
            (undefined if fields[6] == "UND" else defined).add(fields[7])
    return undefined, defined


def is_here(library):
    """Whether this machine's loader finds the library."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    return f"\t{library} " in listed


def wanted(folder):
    """Returns library -> {version or "": names} of everything that is missing."""
    paths = glob.glob(f"{folder}/*.so*")
    ours = {os.path.basename(path) for path in paths}
    missing = {library for path in paths for library in needed(path) if library not in ours and not is_here(library)}
    found = {library: collections.defaultdict(set) for library in missing}
    defined = {name.partition("@")[0] for path in paths for name in symbols(path)[1]}
    for path in paths:
        versions = files_of_versions(path)
        for symbol in symbols(path)[0]:
            name, _, version = symbol.partition("@")
            if versions.get(version) in missing:
                found[versions[version]][version].add(name)
            elif not version and name not in defined and PREFIXES.match(name):
                # Any library may define a symbol without a version, because the loader searches all of them.
                found["libcudart.so.13"][""].add(name)
    return found


def make(library, versions, folder):
    path = os.path.join(folder, library)
    names = sorted({name for names in versions.values() for name in names})
    with open(path + ".s", "w", encoding="ascii") as file:
        file.write("\t.text\n")
        for name in names:
            file.write(f"\t.globl {name}\n\t.type {name}, @function\n{name}:\n{POINTS if name in POINTERS else FAILS}")
        file.write('\t.section .note.GNU-stack,"",@progbits\n')
    with open(path + ".map", "w", encoding="ascii") as file:
        for version in sorted(filter(None, versions)):
            file.write(f"{version} {{ global: {'; '.join(sorted(versions[version]))}; }};\n")
    script = [f"-Wl,--version-script={path}.map"] if any(versions) else []
    subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{library}", *script, "-o", path, path + ".s"], check=True)


def main():
    os.makedirs(sys.argv[2], exist_ok=True)
    for library, versions in wanted(sys.argv[1]).items():
        make(library, versions, sys.argv[2])


main()
