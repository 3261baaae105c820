/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tickets - the results for files that were sampled before they were open. Such a sample has
 * a ticket in place of the object's id, and an offset in the file in place of the file's own
 * address. Bounded, with a share for each user of the tickets that were sampled while their files
 * were being opened, and of those whose files were opened since; a user whose share of the latter
 * is full loses that user's oldest. The owner's lock protects it (object/store.c).
 */
#pragma once

#include "base/shares.h"
#include "base/table.h"

#include <stddef.h>
#include <stdint.h>

enum {
	MAX_TICKETS = 4096,     /* sampled while their files are being opened */
	MAX_TICKETS_KEPT = 1024 /* the same, and their files were opened since */
};

struct ticket {
	uint32_t number;
	uint32_t id;   /* of the object; 0: the file is being opened */
	uint32_t user; /* for whom it is opened */
	bool is_wanted;
	uint64_t wanted_ns;
	struct ticket *prev, *next; /* those whose files were opened, the oldest first */
	UT_hash_handle hh;
};

/* Initialize by tickets_init(). */
struct tickets {
	struct ticket *by_number;
	struct ticket *opened;
	struct shares awaited, kept; /* by user */
	uint64_t refused;            /* for lack of room, or of memory */
};

void tickets_init(struct tickets *tickets);
/* To be called when a file begins to be opened for a user. The caller bounds the number of these
 * tickets, and ends each by tickets_redeem(). */
void tickets_begin(struct tickets *tickets, uint32_t number, uint32_t user);
/* To be called when the file of a ticket was sampled while it is being opened. */
void tickets_want(struct tickets *tickets, uint32_t number, uint64_t now_ns);
/* Sets the result: the file was opened as object `id`, or could not be opened (0). Returns whether
 * the result is kept, which requires that the ticket is wanted. */
bool tickets_redeem(struct tickets *tickets, uint32_t number, uint32_t id);
/* 0; -EAGAIN: the file is still being opened; -ETIMEDOUT: that takes long; -ENOENT: the file could
 * not be opened, or the ticket is not wanted, or it is forgotten. */
int tickets_find(const struct tickets *tickets, uint32_t number, uint64_t now_ns, uint32_t *ret_id);
void tickets_clear(struct tickets *tickets);
