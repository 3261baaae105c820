#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares profiles of programs that use PyTorch, CuPy, Triton, JAX, CUPTI and the driver with what the programs know of themselves, on
a machine with a GPU. Needs root. README.md says what each part compares.

    run.py [PART ...]       all parts, or these
    KEEP=FOLDER             keeps profiles and logs in that folder
    STAND_INS=1             runs with the stand-ins of build/workloads/cuda, without a GPU
"""

import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GPU = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(os.path.dirname(GPU), "system"))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import cupti_checks  # noqa: E402
import daemon  # noqa: E402
import daemon_figures  # noqa: E402
import other_frameworks  # noqa: E402
import torch_checks  # noqa: E402
import torch_settings  # noqa: E402
from checking import COUNTS, LACKING, judge, lacks, say, step  # noqa: E402
from driver_entries import driver_entries  # noqa: E402
from memory_kinds import memory_kinds  # noqa: E402
from overhead import overhead, spins, steps  # noqa: E402
from profiles import HELPER, running  # noqa: E402
from program import Program, end_all, readable_programs  # noqa: E402

WITH_HELPER = {"CUDA_INJECTION64_PATH": HELPER}
OTHERS = {"cupy": other_frameworks.cupy, "triton": other_frameworks.triton, "jax": other_frameworks.jax}

# What may be missing -> what a Python must be able to do where it is there.
TORCH = "import torch\nassert torch.version.cuda, 'built without CUDA'"
FRAMEWORKS = {
    "PyTorch": TORCH,
    "PyTorch for another user": TORCH,
    "CUPTI": "import ctypes.util, os, torch\nassert 'libcupti' in open('/proc/self/maps').read() or ctypes.util.find_library('cupti') "
             "or os.environ.get('PROFD_CUPTI'), 'neither PyTorch nor the dynamic linker has libcupti'",
    "CuPy": "import cupy",
    "Triton": "import torch, triton",
    "JAX": "import jax\nassert jax.devices()[0].platform == 'gpu', jax.devices()",
}

# Part -> the frameworks that it needs, in the order in which the parts run.
PARTS = {
    "entries": (),
    "late": ("PyTorch",),
    "torch": ("PyTorch",),
    "cupti": ("PyTorch", "CUPTI"),
    "cupy": ("CuPy",),
    "triton": ("Triton",),
    "jax": ("JAX",),
    "figures": (),
    "plain": ("PyTorch",),
    "kinds": (),
    "user": ("PyTorch", "PyTorch for another user"),
    "expandable": ("PyTorch",),
    "async": ("PyTorch",),
    "helper": ("PyTorch", "CUPTI"),
    "helper-jax": ("JAX", "CUPTI"),
    "overhead": ("PyTorch",),
    "overhead-helper": ("PyTorch", "CUPTI"),
    "overhead-cupy": ("CuPy",),
}
FIRST = {"late", "torch", "cupti", "cupy", "triton", "jax", "figures"}
SECOND = {"plain", "kinds", "user", "expandable", "async", "helper", "helper-jax"}


def use_stand_ins():
    """Only for processes that are started from here."""
    os.environ["LD_LIBRARY_PATH"] = os.path.join(daemon.BUILD, "workloads", "cuda")
    os.environ["PYTHONPATH"] = os.path.join(HERE, "stand_in")
    os.environ["FAKECUDA_WAIT_NS"] = "5000000"


def missing():
    """What tests/gpu/run.py says. Another process asks, because the daemon watches every process that has CUDA's driver."""
    command = [sys.executable, "-B", "-c", "import run; print(run.missing() or '', end='')"]
    return subprocess.run(command, cwd=GPU, check=True, stdout=subprocess.PIPE, text=True).stdout


def find_frameworks(parts):
    """Reports what these parts need and is not here. Returns what is here."""
    found = set()
    for framework in sorted({name for part in parts for name in PARTS[part]}, key=list(FRAMEWORKS).index):
        user, more = ("nobody", {"HOME": "/tmp"}) if framework == "PyTorch for another user" else (None, {})
        try:
            subprocess.run([sys.executable, "-B", "-c", FRAMEWORKS[framework]], check=True, capture_output=True, text=True, cwd="/tmp",
                           user=user, env={**os.environ, **more}, timeout=120)
            found.add(framework)
        except subprocess.CalledProcessError as error:
            lacks(framework, (error.stderr.strip().splitlines() or ["no reason"])[-1])
        except (OSError, subprocess.SubprocessError) as error:
            lacks(framework, error)
    return found


def ready(*arguments, **environment):
    """A program that runs before the daemon does, or None."""
    program = Program(*arguments, **environment)
    with step(f"import-{program.label}", 90):
        program.ready(80)
        return program
    return None


def first(parts):
    """With a daemon that starts after two of the programs of PyTorch."""
    late = ready("torch", "late") if "late" in parts else None
    cupti = ready("torch", "cupti", **WITH_HELPER) if "cupti" in parts else None
    if late:
        with step("late-before", 30):
            late.tell("keep")
            late.tell("tiny", 20)
    # To name the functions of JAX's plugin takes more memory than the default.
    with running("first", "--symbol-memory=256MiB", "--verbose") as server:
        programs = [program for program in (late, cupti) if program]
        if late:
            with step("late", 95):
                torch_checks.began_before(server, late)
        if "torch" in parts:
            program = Program("torch", "torch")
            torch_checks.began_after(server, program)
        if cupti:
            with step("cupti", 60):
                cupti_checks.kernel_times(server, cupti)
        if "torch" in parts:
            with step("torch-end", 15):
                torch_checks.ended(server, program)
        others = {name: Program(name) for name in OTHERS if name in parts}
        for name, other in others.items():
            with step(name, 75):
                other.ready()
                OTHERS[name](server, other)
        if "figures" in parts:
            with step("figures", 40):
                daemon_figures.gpu_page(server, [*programs, *others.values()])
                daemon_figures.losses(server)
    end_all()


def second(parts):
    """With a daemon that is there before all programs, which start at once."""
    with running("second", "--verbose") as server:
        programs = {"plain": Program("torch", "plain")} if parts & {"plain", "user", "expandable", "async"} else {}
        ways = {
            "kinds": ("driver", {}),
            "user": ("torch", {"folder": readable_programs(), "user": "nobody", "HOME": "/tmp"}),
            "expandable": ("torch", torch_settings.of_allocator(torch_settings.EXPANDABLE)),
            "async": ("torch", torch_settings.of_allocator(torch_settings.ASYNC)),
            "helper": ("torch", WITH_HELPER),
        }
        programs.update((part, Program(name, part, **more)) for part, (name, more) in ways.items() if part in parts)
        # Also the tables of PyTorch's libraries are made meanwhile, for all programs.
        if "plain" in programs:
            with step("plain", 60):
                torch_settings.device_known(server, programs["plain"])
        for part, seconds, check in (("kinds", 40, memory_kinds), ("user", 30, torch_settings.other_user),
                                     ("expandable", 25, torch_settings.expandable), ("async", 25, torch_settings.from_pool)):
            if part in programs:
                with step(part, seconds):
                    check(server, programs[part])
                programs[part].end()
        if "plain" in parts:
            with step("threads", 15):
                torch_settings.threads(server, programs["plain"])
        if "helper" in parts:
            helper_parts(server, programs["helper"])
        if "helper-jax" in parts:
            with step("helper-jax", 40):
                cupti_checks.jax_kernels(server, Program("jax", "helper-jax", **WITH_HELPER))
        if "plain" in parts:
            with step("killed", 15):
                torch_settings.killed(server, programs["plain"])
    end_all()


def helper_parts(server, program):
    with step("helper", 45):
        cupti_checks.graphs_and_storms(server, program)
    program.end()
    with step("helper-seconds", 35):
        program = Program("torch", "seconds", PROFD_CUDA_SECONDS=str(cupti_checks.SECONDS), **WITH_HELPER)
        cupti_checks.seconds_only(server, program)
    program.end()


def costs(parts):
    """Without a daemon, and with one, in turn: this has no session."""
    for part, name, what, measure, more in (("overhead", "torch", "a launch of PyTorch", spins, {}),
                                            ("overhead", "torch", "a step of training", steps, {}),
                                            ("overhead-helper", "torch", "a launch of PyTorch with the helper", spins, WITH_HELPER),
                                            ("overhead-cupy", "cupy", "a launch of CuPy", spins, {})):
        if part in parts:
            with step(f"{part}: {what}", 110):
                overhead(Program(name, part, **more), what, measure)
    end_all()


def session(name, run, parts):
    """A daemon that does not start or end is a wrong comparison, after which the next session follows."""
    try:
        run(parts)
    except (AssertionError, OSError) as error:
        judge(f"session-{name}", False, f"{type(error).__name__}: {str(error)[-3000:]}")
    finally:
        end_all()


def main():
    asked = sys.argv[1:] or list(PARTS)
    unknown = [part for part in asked if part not in PARTS]
    if unknown:
        print(f"no such part: {' '.join(unknown)}; there are: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    if os.environ.get("STAND_INS"):
        use_stand_ins()
    why = missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    found = find_frameworks(asked)
    parts = {part for part in asked if found.issuperset(PARTS[part])}
    if "entries" in parts:
        with step("entries", 60):
            driver_entries()
    if parts & FIRST:
        session("first", first, parts)
    if parts & SECOND:
        session("second", second, parts)
    costs(parts)
    say(f"{COUNTS['ok']} ok, {COUNTS['FAILED']} failed" + (f"; not here: {', '.join(LACKING)}" if LACKING else ""))
    return 1 if COUNTS["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
