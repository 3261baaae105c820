/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the code of CPython's evaluation loop, including the parts that a compiler split off. Any
 * thread.
 */
#pragma once

#include "bpf/python.h"
#include "elf/elf.h"

/* Returns [start, end) of each part, the main part first; unused entries are 0. -EBADMSG when there
 * is no loop, -ENOMEM. */
int python_loop_find(const struct elf *elf, uint64_t ret_parts[PYTHON_LOOPS][2]);
