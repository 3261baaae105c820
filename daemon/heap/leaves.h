/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which functions are an allocator's own and stand between who asked for memory and the probe that
 * saw it: of C++, operator new called malloc(). Pure; any thread.
 */
#pragma once

#include <stdbool.h>

/* By the linker's name, as in "_Znwm", "__rust_alloc". */
bool heap_leaf_is_allocators(const char *linker_name);
