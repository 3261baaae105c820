/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct usdt_files - which executables and libraries have the static probes of programs that
 * sample their own allocations (bpf/heap.h), and where. Each is looked into once, by a reader. Loop
 * thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/lane.h"
#include "bpf/heap.h"
#include "object/store.h"
#include "reader/reader.h"

#include <stdbool.h>

enum { MAX_USDT_SITES = 16 }; /* of one file: a probe may be inlined */

struct usdt_site {
	uint64_t offset, semaphore; /* in the file; 0: it has none */
	uint8_t frees;              /* bool */
	struct heap_usdt_site site;
};

struct usdt_file {
	size_t count;
	struct usdt_site sites[MAX_USDT_SITES];
};

/* What a file has of them, as far as it is understood; NULL when that is nothing. Any thread. */
struct usdt_file *usdt_file_read(const struct elf *elf);

struct usdt_files;

/* The lane, its reader and the store outlive it; `fn` is told after a file was found to have
 * probes. */
typedef void usdt_found_fn(void *ctx);
struct usdt_files *usdt_files_new(struct lane *lane, struct reader *reader, struct store *store,
                                  usdt_found_fn *fn, void *ctx);
void usdt_files_free(struct usdt_files *files); /* once the lane is idle; takes NULL */
DEFINE_CLEANUP(struct usdt_files *, usdt_files_free)

/* By an object's id in the store. NULL when it has no probes, or, with *ret_pending, when that is
 * not known yet; then it is found out. */
const struct usdt_file *usdt_files_get(struct usdt_files *files, uint32_t id, bool *ret_pending);
