/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a file that contains CPython says about it. CPython is found by the symbol _PyRuntime,
 * whatever the file's name; version and layout come from the file's own bytes. From 3.13 on the
 * file describes its structures itself (_Py_DebugOffsets); for 3.8 to 3.12 there is a table,
 * python/python_layouts.c. No state; any thread.
 */
#pragma once

#include "bpf/python.h"
#include "elf/elf.h"

/* -ENOENT when the file contains no CPython, -ENOTSUP when the version is unknown, -EBADMSG when
 * its contents make no sense, -ENOMEM. Addresses in the result are the file's own. */
int python_build_read(const struct elf *elf, struct python_process *ret_process);
/* Whether all fields that a walk needs are there, and the values are within what a walk assumes. */
bool python_build_is_sound(const struct python_process *process);
/* Adds the bias of a mapping to all addresses. */
void python_build_move(struct python_process *process, uint64_t bias);
