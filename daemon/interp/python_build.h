/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a file with a CPython inside says about it: found by the symbol _PyRuntime, whatever the
 * file is called; version and layout from the file's own bytes. From 3.13 on the file describes its
 * structures itself (_Py_DebugOffsets); for 3.8 to 3.12 there is a table, interp/python_layouts.c.
 * No state; any thread.
 */
#pragma once

#include "bpf/python.h"
#include "object/elf.h"

/* -ENOENT when there is no CPython in it, -ENOTSUP when it is one of a version that is not known,
 * -EBADMSG when what it says makes no sense, -ENOMEM. Addresses in the result are the file's own.
 */
int python_build_read(const struct elf *elf, struct python_process *ret_process);
/* Whether it has what a walk cannot do without, and is what a walk takes for granted. */
bool python_build_is_sound(const struct python_process *process);
/* The same where the file is mapped so much higher. */
void python_build_move(struct python_process *process, uint64_t bias);
