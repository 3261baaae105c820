/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct unwind_maps - the maps that hold the unwind tables, as plain memory that is shared with
 * the kernel half through mmap. Maps that say where tables are exist from the beginning. The tables
 * are in a map of maps, whose inner maps (chunks) are made and given back as the unwinder requests.
 * One budget bounds all of it. Loop thread only.
 */
#pragma once

#include "kernel/bpf.h"
#include "unwind/unwind_memory.h"

#include <stdbool.h>

struct unwind_chunk;

struct unwind_maps {
	struct unwind_memory memory;
	struct bpf *bpf;
	struct unwind_chunk *chunks; /* memory.chunk_count of them */
	u64 chunk_bytes;             /* kernel memory of the chunks that exist */
	bool said_refused;
};

/* Before load: gives every map its share of `bytes`. */
int unwind_maps_size(struct bpf *bpf, size_t bytes);
/* Call after load; `maps` must stay in place. Call unwind_maps_close() even after a failure. */
int unwind_maps_open(struct unwind_maps *maps, struct bpf *bpf);
void unwind_maps_close(struct unwind_maps *maps);
