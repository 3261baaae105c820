/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct follower - the instructions that one function reaches from its first byte, and what is
 * known before each. Used for one function after another; its memory is kept between them. Three
 * steps: find the instructions, carry facts along every path until nothing changes, tell the rows.
 */
#pragma once

#include "base/cleanup.h"
#include "object/frame_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAX_FOLLOW_BYTES = 256 * 1024, /* of one function; generated ones reach 100 KiB */
	MAX_FOLLOW_STEPS =
		8 * 1000 * 1000, /* of one follower: instructions decoded and passed; a second */
};

struct follower;

struct follower *follower_new(void); /* NULL when out of memory */
void follower_free(struct follower *follower);
DEFINE_CLEANUP(struct follower *, follower_free)

/* How it is known that a function begins here. */
enum follow_entry {
	FOLLOW_CALLED,    /* something calls it, or says that it is a function */
	FOLLOW_GUESSED,   /* something points at it: it must prove itself by the way it returns */
	FOLLOW_OUTERMOST, /* the kernel jumps there: nobody to return to */
};

/* Finds the instructions; `code` must stay until the last of the calls below. A guess ends at the
 * first bytes that are none. -ENOMEM. */
int follower_explore(struct follower *follower, const uint8_t *code, size_t len, uint64_t address,
                     enum follow_entry entry);
/* Whether rows can be proven; false when the steps are used up, too. */
bool follower_solve(struct follower *follower, enum follow_entry entry);
/* The rows after a follower_solve() that returned true, ascending; 0 or what fn returned. */
int follower_each_row(const struct follower *follower, frame_row_fn *fn, void *ctx);

/* Other functions that the instructions name: called (after follower_solve() also those jumped to
 * with nothing of this function left on the stack), or their address taken. */
enum follow_reference { REFERENCE_CALL, REFERENCE_ADDRESS };
typedef int follow_reference_fn(uint64_t address, enum follow_reference how, void *ctx);
int follower_each_reference(const struct follower *follower, follow_reference_fn *fn, void *ctx);
