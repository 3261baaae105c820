/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tickets - the results for files that were sampled before they were open. Such a sample has
 * a ticket in place of the object's id, and an offset in the file in place of the file's own
 * address. Bounded, with a share for each user of the tickets whose files were opened; a user whose
 * share is full loses that user's oldest ticket. The owner's lock protects it (object/store.c).
 */
#pragma once

#include "base/shares.h"
#include "base/table.h"

#include <stddef.h>
#include <stdint.h>

enum {
	MAX_TICKETS = 4096,     /* opened and being opened together */
	MAX_TICKETS_KEPT = 1024 /* tickets whose files were opened */
};

struct ticket {
	uint32_t number;
	uint32_t id, user; /* id: of the object, 0: the file is being opened */
	uint64_t wanted_ns;
	UT_hash_handle hh;
};

/* All zero: empty. */
struct tickets {
	struct ticket *by_number; /* uthash keeps the order of insertion */
	struct shares shares;     /* of MAX_TICKETS_KEPT */
};

/* To be called when the file of a ticket was sampled while it is being opened. */
void tickets_want(struct tickets *tickets, uint32_t number, uint64_t now_ns);
/* Sets the result: the file was opened for that user as object `id`, or could not be opened (0).
 * Returns whether the result is kept. */
bool tickets_redeem(struct tickets *tickets, uint32_t number, uint32_t user, uint32_t id);
/* 0; -EAGAIN: the file is still being opened; -ETIMEDOUT: that takes long; -ENOENT: the file could
 * not be opened, or the ticket is forgotten. */
int tickets_find(const struct tickets *tickets, uint32_t number, uint64_t now_ns, uint32_t *ret_id);
void tickets_clear(struct tickets *tickets);
