# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A guest: what it boots from, and what comes back from it."""

import os
import re
import shutil
import subprocess
import tarfile

import daemon
from packages import FOLDER
from workload import workload_path

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 180  # a whole guest; it takes half of that
PROGRAMS = (daemon.PROFD, "/usr/bin/curl", "/usr/bin/setpriv") + tuple(
    map(workload_path, ("spin60_30_10", "stacks_chain", "memory_growth", "heap_sites", "hog",
                        "cuda/gpu_truth", "cuda/gpu_launches"))
)
# QEMU 7.2 now and then gets a cmpxchg16b of the kernel wrong, and that panics; five levels of pages only take time.
CPU = "max,cx16=off,la57=off"
BUSYBOX = "/bin/busybox"


def _libraries(program):
    """What the loader would map for it, the loader included."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", listed)


def make_image():
    """An initramfs with the programs, their libraries and guest.sh as the first process; its path."""
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
            # What a program has beside itself it looks for there.
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
    """Boots it, waits for its end, and returns the folder of what it left. Fails with its last words."""
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
