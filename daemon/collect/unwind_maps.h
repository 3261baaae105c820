/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct unwind_maps - the maps that hold the unwind tables, as plain memory that is shared with
 * the kernel half through mmap. What says where tables are is there from the beginning; the tables
 * themselves are in a map of maps, whose parts are made and given back as the unwinder says. One
 * budget bounds all of it. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"
#include "unwind/unwinder.h"

#include <stdbool.h>

struct unwind_chunk;

struct unwind_maps {
	struct unwind_memory memory;
	struct bpf *bpf;
	struct unwind_chunk *chunks; /* memory.chunk_count of them */
	u64 chunk_bytes;             /* what those that there are take in the kernel */
	bool said_refused;
};

/* Before load: gives every map its share of `bytes`. */
int unwind_maps_size(struct bpf *bpf, size_t bytes);
/* After load; unwind_maps_close() even after a failure. The maps stay put meanwhile. */
int unwind_maps_open(struct unwind_maps *maps, struct bpf *bpf);
void unwind_maps_close(struct unwind_maps *maps);
