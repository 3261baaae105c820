/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How CPython describes its own structures, from 3.13 on: struct _Py_DebugOffsets at the beginning
 * of _PyRuntime. It also covers free-threaded builds. Any thread.
 */
#pragma once

#include "bpf/python.h"
#include "elf/elf.h"

/* Reads the description at `runtime` in the file; `interpreters` in the result is relative to
 * `runtime`. -ENOENT when there is no description, -ENOTSUP when its version is unknown, -EBADMSG
 * when it makes no sense. */
int python_described(const struct elf *elf, uint64_t runtime, struct python_process *ret_process);
