/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The static probes of an executable file that profd listens to, and where they are. No state; any
 * thread.
 */
#pragma once

#include "bpf/static_probe.h"
#include "elf/elf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The probes, and how many of their arguments are used. Programs that sample their own allocations
 * have the first two, programs with libprofd-cuda.so the others. In the order in which they are
 * attached: a probe that ends something comes before the one that begins it.
 */
#define STATIC_PROBES(PROBE)                         \
	PROBE(HEAP_FREE, "otel_memory", "free", 1)   \
	PROBE(HEAP_ALLOC, "otel_memory", "alloc", 3) \
	PROBE(GPU_RAN, "profd_cuda", "ran", 6)       \
	PROBE(GPU_LAUNCHED, "profd_cuda", "launched", 1)

enum static_probe {
#define PROBE(probe, provider, name, arguments) STATIC_##probe,
	STATIC_PROBES(PROBE)
#undef PROBE
		STATIC_PROBE_COUNT
};

enum { MAX_USDT_SITES = 16 }; /* of one file: a probe may be inlined */

struct usdt_site {
	uint64_t offset, semaphore; /* in the file; semaphore 0: none */
	uint8_t probe;              /* enum static_probe */
	struct static_site site;
};

struct usdt_file {
	size_t count;
	struct usdt_site sites[MAX_USDT_SITES];
};

bool usdt_file_has(const struct usdt_file *file, enum static_probe probe);

/* The probes of a file that are understood; NULL when there are none. */
struct usdt_file *usdt_file_read(const struct elf *elf);
