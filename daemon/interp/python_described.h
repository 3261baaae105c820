/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How CPython describes its own structures, from 3.13 on: struct _Py_DebugOffsets at the beginning
 * of _PyRuntime. It tells those of free-threaded builds as well. Any thread.
 */
#pragma once

#include "bpf/python.h"
#include "object/elf.h"

/* The description that is at `runtime` in the file; `interpreters` is counted from there. -ENOENT
 * when there is none, -ENOTSUP when it is of a version that is not known, -EBADMSG when it makes no
 * sense. */
int python_described(const struct elf *elf, uint64_t runtime, struct python_process *ret_process);
