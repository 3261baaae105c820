#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""FIFOs as debug files: runs COUNT programs in FOLDER whose debug information names files beside them, which are FIFOs.
A process that opens one for reading waits for a writer, which never comes.

The daemon must name other programs at once. Before it opens a file by name it checks the file's type.

  fifos.py FOLDER COUNT
"""

import os
import subprocess
import sys

SOURCE = "int main(void) { for (volatile int i = 0;; i++) ; }\n"


def make(folder, number):
    """Builds a program and replaces its debug file by a FIFO."""
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
