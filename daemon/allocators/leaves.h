/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of an allocator that are on the stack between the code that asked for memory and the
 * probe that saw the allocation: in C++, for example, operator new, which called malloc(). Pure;
 * any thread.
 */
#pragma once

#include <stdbool.h>

/* By the linker's name, such as "_Znwm", "__rust_alloc". */
bool heap_leaf_is_allocators(const char *linker_name);
