/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct usdt_files - which executables and libraries have static probes that profd listens to, and
 * where. A reader reads each file once. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/lane.h"
#include "bpf/static_probe.h"
#include "object/store.h"
#include "reader/reader.h"

#include <stdbool.h>

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

/* The probes of a file that are understood; NULL when there are none. Any thread. */
struct usdt_file *usdt_file_read(const struct elf *elf);

struct usdt_files;

/* The lane, its reader and the store outlive struct usdt_files. `fn` is called after probes were
 * found in a file. */
typedef void usdt_found_fn(void *ctx);
struct usdt_files *usdt_files_new(struct lane *lane, struct reader *reader, struct store *store,
                                  usdt_found_fn *fn, void *ctx);
void usdt_files_free(struct usdt_files *files); /* once the lane is idle; takes NULL */
DEFINE_CLEANUP(struct usdt_files *, usdt_files_free)

/* The probes of an object, by its id in the store. NULL when it has none, or, with *ret_pending,
 * when that is not known yet; the search for them has then started. */
const struct usdt_file *usdt_files_get(struct usdt_files *files, uint32_t id, bool *ret_pending);
