#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""FIFOs as debug files: runs COUNT programs in FOLDER that say that their debug information is in files beside them,
which are FIFOs. Who opens one to read waits until somebody writes, which nobody does.

The daemon must name other programs at once. Whoever opens what a file names looks at first what it is.

  fifos.py FOLDER COUNT
"""

import os
import subprocess
import sys

SOURCE = "int main(void) { for (volatile int i = 0;; i++) ; }\n"


def make(folder, number):
    """The program, without its own debug file."""
    name = f"fifo{number}"
    with open(f"{folder}/{name}.c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    for words in (["-c", "-g", "-gsplit-dwarf", f"{name}.c"], ["-g", "-gsplit-dwarf", "-o", name, f"{name}.o"]):
        subprocess.run(["gcc", *words], cwd=folder, check=True)
    os.unlink(f"{folder}/{name}.dwo")
    os.mkfifo(f"{folder}/{name}.dwo", 0o666)
    os.chmod(f"{folder}/{name}.dwo", 0o666)
    return f"{folder}/{name}"


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    programs = [make(folder, number) for number in range(count)]
    running = [subprocess.Popen([program]) for program in programs]
    print("ready", flush=True)
    for process in running:
        process.wait()


if __name__ == "__main__":
    main()
