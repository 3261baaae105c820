/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The maps that hold the unwind tables, as plain memory: sized once from one budget, then shared
 * with the kernel half through mmap. Nothing in them is created or deleted at run time. Loop thread
 * only.
 */
#pragma once

#include "collect/bpf.h"
#include "unwind/unwinder.h"

#include <stdbool.h>

/* False: tables have 4 MiB at most. Before Linux 6.0 a value is at most as large as what kmalloc
 * gives. */
bool unwind_maps_may_be_large(void);
/* Before load: gives every map its share of `bytes`. */
int unwind_maps_size(struct bpf *bpf, size_t bytes);
/* After load; unwind_maps_close() even after a failure. */
int unwind_maps_open(struct bpf *bpf, struct unwind_memory *ret_memory);
void unwind_maps_close(struct unwind_memory *memory);
