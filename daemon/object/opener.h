/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct opener - opens what processes map without waiting for any file system. Who asks for a file
 * that the store does not know yet gets a ticket (object/store.h); the file is opened on a thread
 * of a crew (base/crew.h), and the ticket's holders are told the object's id. A file system that
 * hangs delays the files on it and nobody else's. The opener closes the store's files in the same
 * way.
 *
 * Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "object/store.h"

struct opener;

struct opened {
	uint32_t ticket;
	uint32_t id; /* 0: it could not be opened, or is no ELF file */
};

struct opener_config {
	uv_loop_t *loop;
	struct store *store;
	/* Tickets that have become objects, by ticket. */
	void (*opened)(const struct opened *opened, size_t count, void *ctx);
	void *ctx;
};

int opener_new(const struct opener_config *config, struct opener **ret_opener);
void opener_stop(struct opener *opener);
/* After opener_stop(), once the loop has closed its handles. */
void opener_free(struct opener *opener);
DEFINE_CLEANUP(struct opener *, opener_free)

/* The id of the object, a ticket, or 0: no file, or too much waits for that user already. */
uint32_t opener_open(struct opener *opener, const struct file_key *key, const struct place *place);
/* Waits a moment, never longer than OPENER_PATIENCE_NS, for files that were asked for within it:
 * before stacks are looked up in them. */
#define OPENER_PATIENCE_NS (20 * NSEC_PER_MSEC)
void opener_settle(struct opener *opener);
/* For whatever else is done with what belongs to others; opener_stop() stops it. */
struct crew *opener_crew(struct opener *opener);
void opener_get_stats(struct opener *opener, struct crew_stats *ret_stats);
