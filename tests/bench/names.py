#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures what names and source lines cost: the same addresses are looked up by profd's reader process and by other tools.

  make bench-names                          all parts
  tests/bench/names.py dwarf stripped perf  the named parts
  ADDRESSES=5000 make bench-names           50000 by default

"dwarf" is a program with some 500 MB of DWARF, which is built once in the build folder. "stripped" is a large library
without symbols. "perf" is a recorded run of the first program: perf has to give the names and lines of its samples.
Ratios are of seconds, each tool's over profd's; memory is the peak of each tool. A tool that takes longer than LIMIT seconds
is shown as such.
"""

import collections
import gzip
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from daemon import BUILD, PROFD, ROOT  # noqa: E402
from pprof import ENVIRONMENT  # noqa: E402
from workload import Workload  # noqa: E402

ADDRESSES = int(os.environ.get("ADDRESSES", "50000"))
SEED = 1
LIMIT = int(os.environ.get("LIMIT", "600"))
COST = os.path.join(BUILD, "tests", "bench", "names_cost")
LARGE = os.path.join(BUILD, "tests", "bench", "large-dwarf")
INSTANCES, UNITS = 300, 140
LIBRARIES = "/usr/lib/x86_64-linux-gnu"

Cost = collections.namedtuple("Cost", "seconds mib")


# ---- the files ---------------------------------------------------------------------------------------------
def large_dwarf():
    """Returns the path of a program with a lot of DWARF: one unit, linked many times."""
    if os.path.exists(LARGE):
        return LARGE
    with tempfile.TemporaryDirectory(dir=os.path.dirname(LARGE)) as folder:
        unit = f"{folder}/unit.o"
        compile_it = ["g++", "-O2", "-g", f"-DINSTANCES={INSTANCES}", "-ftemplate-depth=2000"]
        subprocess.run([*compile_it, "-c", f"{ROOT}/tests/bench/names_unit.cc", "-o", unit], check=True)
        copies = [f"{folder}/{number}.o" for number in range(UNITS)]
        for number, copy in enumerate(copies):
            subprocess.run(["objcopy", f"--redefine-sym=entry=entry_{number}", unit, copy], check=True)
        with open(f"{folder}/main.c", "w", encoding="ascii") as main:
            main.write("".join(f"long entry_{number}(long);\n" for number in range(UNITS)))
            calls = "".join(f"\t\tentry_{number}(argc);\n" for number in range(UNITS))
            main.write(f"int main(int argc, char **argv)\n{{\n\t(void)argv;\n\tfor (;;) {{\n{calls}\t}}\n}}\n")
        subprocess.run(["gcc", "-g", "-o", f"{folder}/linked", f"{folder}/main.c", *copies], check=True)
        os.rename(f"{folder}/linked", LARGE)
    return LARGE


def dwarf_bytes(path):
    text = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    return sum(int(size, 16) for size in re.findall(r"\.debug_\S+\s+\S+\s+\S+\s+\S+\s+([0-9a-f]+)", text))


def large_stripped():
    """Returns the largest library. Its .eh_frame covers all of its code, unlike a browser's."""
    files = [os.path.join(LIBRARIES, name) for name in os.listdir(LIBRARIES) if ".so" in name]
    return max(filter(os.path.isfile, files), key=os.path.getsize)


# ---- the tools ---------------------------------------------------------------------------------------------
def profd(path, count, addresses):
    """Writes the addresses. Returns (Cost, Cost of the second lookup, the other figures that names_cost prints)."""
    text = subprocess.run(
        [COST, PROFD, path, "-", str(count), str(SEED), addresses], check=True, capture_output=True, text=True
    ).stdout
    first, _, again = text.partition("again:\n")
    values = {name: float(value) for name, value in re.findall(r"(\w+):\s+([\d.]+)", first)}
    seconds = float(re.search(r"seconds: ([\d.]+)", again)[1])
    return Cost(values["seconds"], values["VmHWM"] / 1024), Cost(seconds, float("nan")), values


def command(argv, **options):
    """Returns the Cost of a command, or None when it took over LIMIT."""
    start = time.monotonic()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(argv, start_new_session=True, **quiet, **options)
    try:
        code = process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # go runs pprof in a process of its own
        process.wait()
        return None
    seconds = time.monotonic() - start
    if code != 0:
        raise AssertionError(f"{argv[0]} ended with {code}")
    # RUSAGE_CHILDREN covers all children so far, so each command runs in a process of its own: see in_a_child().
    return Cost(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


def in_a_child(function, *arguments):
    """Returns the Cost that the function returns, run in a process in which no other command has run before."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read)
            cost = function(*arguments)
            os.write(write, repr(tuple(cost) if cost else None).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    if os.waitpid(pid, 0)[1] != 0:
        raise AssertionError(f"{function.__name__} failed")
    values = None if text == "None" else tuple(float(v) for v in text.strip("()").split(","))
    return values and Cost(*values)


def addr2line(path, addresses):
    with open(addresses, "rb") as file:
        return command(["addr2line", "-i", "-f", "-C", "-e", path], stdin=file)


def llvm_symbolizer(path, addresses):
    with open(addresses, "rb") as file:
        return command(["llvm-symbolizer", "--inlining", "-e", path], stdin=file)


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def text_segment(path):
    """Returns (offset, address, size) of the first executable segment."""
    text = subprocess.run(["readelf", "-lW", path], check=True, capture_output=True, text=True).stdout
    match = re.search(r"LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)\s+\S+\s+R E", text)
    return tuple(int(word, 16) for word in match.groups())


def unnamed_profile(path, addresses):
    """Returns a gzipped profile.proto of one sample at each address, without function names."""
    offset, start, size = text_segment(path)
    data = bytearray(message(1, number(1, 1) + number(2, 2)))
    data += message(3, number(1, 1) + number(2, start) + number(3, start + size) + number(4, offset) + number(5, 3))
    with open(addresses, encoding="ascii") as file:
        for i, line in enumerate(file, 1):
            data += message(2, message(1, varint(i)) + message(2, varint(1)))
            data += message(4, number(1, i) + number(2, 1) + number(3, int(line, 16)))
    for string in ("", "samples", "count", path):
        data += message(6, string.encode())
    return gzip.compress(bytes(data), 1)


def go_pprof(path, addresses):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/in", "wb") as file:
            file.write(unnamed_profile(path, addresses))
        argv = ["go", "tool", "pprof", "-symbolize=local", "-proto", "-output", f"{folder}/out", path, f"{folder}/in"]
        return command(argv, cwd=folder, env={**ENVIRONMENT, "PPROF_TMPDIR": folder})


OTHERS = {"addr2line -i -f -C": addr2line, "llvm-symbolizer": llvm_symbolizer, "go tool pprof": go_pprof}


# ---- the measures ----------------------------------------------------------------------------------------
def show(name, cost, base=None):
    if cost is None:
        print(f"  {name:22} over {LIMIT} s", flush=True)
        return
    ratio = f"{cost.seconds / base.seconds:8.1f} x" if base else " " * 10
    print(f"  {name:22}{cost.seconds:10.2f} s {ratio} {cost.mib:10.0f} MiB", flush=True)


def compare(path, others):
    with tempfile.TemporaryDirectory() as folder:
        addresses = f"{folder}/addresses"
        first, again, values = profd(path, ADDRESSES, addresses)
        print(f"  {ADDRESSES} addresses: {values['named']:.0f} named, {values['lined']:.0f} with lines, "
              f"{values['frames']:.0f} frames; {values.get('RssAnon', 0) / 1024:.0f} MiB anonymous")
        show("profd", first)
        show("profd, file known", again, first)
        for name, tool in others.items():
            if shutil.which(name.split()[0], path=ENVIRONMENT["PATH"]):
                show(name, in_a_child(tool, path, addresses), first)
            else:
                print(f"  {name:22} is not installed")


def measure_dwarf():
    path = large_dwarf()
    print(f"{dwarf_bytes(path) / 1e6:.0f} MB of DWARF in {UNITS} units of C++")
    compare(path, OTHERS)


def measure_stripped():
    path = large_stripped()
    print(f"{path}, {os.path.getsize(path) / 1e6:.0f} MB, stripped")
    compare(path, {"addr2line -i -f -C": addr2line})


def measure_perf():
    """perf script names every sample, profd each address once. profd is therefore asked for as many addresses of the same
    file as the samples have distinct ones.
    """
    path = large_dwarf()
    if shutil.which("perf") is None:
        print("perf: not installed")
        return
    with tempfile.TemporaryDirectory() as folder, Workload(path) as spin:
        data = f"{folder}/data"
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-p", str(spin.pid), "-o", data]
        subprocess.run([*record, "--", "sleep", "2"], check=True, stdout=subprocess.DEVNULL)
        ips = subprocess.run(
            ["perf", "script", "-i", data, "-F", "ip", "--no-inline"], check=True, capture_output=True, text=True
        ).stdout.split()
        distinct = len(set(ips))
        print(f"perf script of {len(ips)} samples of that program, {distinct} distinct addresses")
        first, _, _ = profd(path, distinct, f"{folder}/addresses")
        show("profd", first)
        fields = ["-F", "ip,sym,srcline,dso"]
        show("perf script", in_a_child(command, ["perf", "script", "-i", data, *fields]), first)


MEASURES = {"dwarf": measure_dwarf, "stripped": measure_stripped, "perf": measure_perf}


def main():
    wanted = sys.argv[1:] or list(MEASURES)
    if set(wanted) - MEASURES.keys():
        sys.exit(f"names.py: what there is: {', '.join(MEASURES)}")
    if not os.access(COST, os.X_OK):
        sys.exit(f"{COST} is missing: make bench-names")
    for name in wanted:
        MEASURES[name]()


if __name__ == "__main__":
    main()
