/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The maps that hold the unwind tables, as plain memory: sized once from one budget, then shared
 * with the kernel half through mmap. Nothing in them is created or deleted at run time. Loop thread
 * only.
 */
#pragma once

#include "collect/bpf.h"
#include "unwind/unwinder.h"

/* Before load: gives every map its share of `bytes`. */
int unwind_maps_size(struct bpf *bpf, size_t bytes);
/* After load; unwind_maps_close() even after a failure. */
int unwind_maps_open(struct bpf *bpf, struct unwind_memory *ret_memory);
void unwind_maps_close(struct unwind_memory *memory);
