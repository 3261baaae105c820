/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct opener - opens the files that processes map, without waiting for any file system. A caller
 * that asks for a file that the store does not know gets a ticket (object/store.h). The file is
 * opened on a thread of a crew (base/crew.h), and the object's id is then reported to the holders
 * of the ticket. A file system that hangs delays only the files on it. What is given up because
 * of others, of the same user or of a crew that has too much to do, or because the daemon is short
 * of descriptors or memory, is tried again later, and its ticket stays valid. The opener closes the
 * store's files in the same way.
 *
 * Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "object/store.h"

struct opener;

enum { OPENER_LATER = 512 }; /* files that are tried again later, with a share for each user */

struct opened {
	uint32_t ticket;
	uint32_t id; /* 0: the file could not be opened, or is no ELF file */
};

/* Orders them by ticket, for qsort() and bsearch(). */
static inline int opened_compare(const void *left, const void *right)
{
	const struct opened *a = left, *b = right;

	return (a->ticket > b->ticket) - (a->ticket < b->ticket);
}

struct opener_config {
	uv_loop_t *loop;
	struct store *store;
	/* Reports tickets whose files have been opened. */
	void (*opened)(const struct opened *opened, size_t count, void *ctx);
	void *ctx;
};

int opener_new(const struct opener_config *config, struct opener **ret_opener);
void opener_stop(struct opener *opener);
/* To be called after opener_stop(), once the loop has closed its handles. */
void opener_free(struct opener *opener);
DEFINE_CLEANUP(struct opener *, opener_free)

/* Returns the id of the object, a ticket, or 0: there is no file, or too many files of that user
 * are put off already. */
uint32_t opener_open(struct opener *opener, const struct file_key *key, const struct place *place);
/* Waits briefly, at most OPENER_PATIENCE_NS, for files that were requested within that time. Called
 * before stacks are looked up in those files. */
#define OPENER_PATIENCE_NS (20 * NSEC_PER_MSEC)
void opener_settle(struct opener *opener);
/* The crew, for all other operations on files and memory of other users; opener_stop() stops it. */
struct crew *opener_crew(struct opener *opener);
void opener_get_stats(struct opener *opener, struct crew_stats *ret_stats);
