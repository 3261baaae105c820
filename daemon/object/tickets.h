/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tickets - what has become of files in which something was sampled before they were open.
 * A sample has a ticket in the place of the object's id then, and an offset in the file in the
 * place of the file's own address. Bounded, with a share for each user of those that were opened;
 * a user who has no more room loses the ticket that came first. Under its owner's lock
 * (object/store.c).
 */
#pragma once

#include "base/shares.h"

#include "base/table.h"

#include <stddef.h>
#include <stdint.h>

enum {
	MAX_TICKETS = 4096,     /* of both */
	MAX_TICKETS_KEPT = 1024 /* those that were opened */
};

struct ticket {
	uint32_t number;
	uint32_t id, user; /* id: of the object, 0: it is being opened */
	uint64_t wanted_ns;
	UT_hash_handle hh;
};

/* All zero: empty. */
struct tickets {
	struct ticket *by_number; /* uthash keeps the order in which they came */
	struct shares shares;     /* of MAX_TICKETS_KEPT */
};

/* Something was sampled in the file of a ticket, which is being opened. */
void tickets_want(struct tickets *tickets, uint32_t number, uint64_t now_ns);
/* The file was opened for that user: as this object, 0: or could not be. Whether that is kept. */
bool tickets_redeem(struct tickets *tickets, uint32_t number, uint32_t user, uint32_t id);
/* 0; -EAGAIN: it is still being opened; -ETIMEDOUT: that takes long; -ENOENT: it could not be
 * opened, or is forgotten. */
int tickets_find(const struct tickets *tickets, uint32_t number, uint64_t now_ns, uint32_t *ret_id);
void tickets_clear(struct tickets *tickets);
