# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Builds the initramfs of a guest, boots it, and unpacks the results that it leaves."""

import os
import re
import shutil
import subprocess
import tarfile

import daemon
from packages import FOLDER
from workload import workload_path

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 300  # for a whole guest, which needs half of that
PROGRAMS = (daemon.PROFD, "/usr/bin/curl", "/usr/bin/setpriv") + tuple(
    map(workload_path, ("spin60_30_10", "stacks_chain", "memory_growth", "heap_sites", "hog", "waits",
                        "cuda/gpu_truth", "cuda/gpu_launches"))
)
# QEMU 7.2 sometimes emulates a cmpxchg16b of the kernel wrongly, and the kernel panics. Five page table levels only take time.
CPU = "max,cx16=off,la57=off"
BUSYBOX = "/bin/busybox"


def _libraries(program):
    """Returns the libraries that the loader would map for the program, and the loader."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", listed)


def make_image():
    """Makes an initramfs with the programs, their libraries, and guest.sh as the first process; returns its path."""
    root, image = os.path.join(FOLDER, "root"), os.path.join(FOLDER, "initramfs")
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "proc", "sys", "dev", "tmp"):
        os.makedirs(os.path.join(root, folder))
    shutil.copy(BUSYBOX, os.path.join(root, "bin/busybox"))
    applets = subprocess.run([BUSYBOX, "--list"], check=True, capture_output=True, text=True).stdout.split()
    for applet in set(applets) - {"busybox"} - set(map(os.path.basename, PROGRAMS)):
        os.symlink("busybox", os.path.join(root, "bin", applet))
    for program in PROGRAMS:
        shutil.copy(program, os.path.join(root, "bin"))
        for library in _libraries(program):
            # A library in the program's own folder is looked up beside the program.
            beside = os.path.dirname(library) == os.path.dirname(program)
            folder = os.path.join(root, "bin") if beside else root + os.path.dirname(library)
            os.makedirs(folder, exist_ok=True)
            shutil.copy(library, folder)
    shutil.copy(os.path.join(HERE, "guest.sh"), os.path.join(root, "init"))
    names = subprocess.run(["find", "."], cwd=root, check=True, capture_output=True).stdout
    with open(image, "wb") as file:
        subprocess.run(
            ["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=root, input=names, stdout=file, check=True
        )
    return image


def boot(name, kernel, image):
    """Boots the guest, waits for its end, and returns the folder of its results. A failure has the end of the console."""
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    console, archive = os.path.join(folder, "console"), os.path.join(folder, "archive")
    argv = [
        "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", CPU, "-smp", "2", "-m", "1536",
        "-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel, "-initrd", image,
        "-append", "console=ttyS0 panic=-1 loglevel=4 no_timer_check",
        "-serial", f"file:{console}", "-serial", f"file:{archive}",
    ]
    try:
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
        with tarfile.open(archive) as left:
            left.extractall(folder)
    except (subprocess.SubprocessError, OSError, EOFError, tarfile.TarError) as error:
        with open(console, encoding="utf-8", errors="replace") as file:
            raise AssertionError(f"{error}; its console:\n{file.read()[-4000:]}") from None
    return folder
