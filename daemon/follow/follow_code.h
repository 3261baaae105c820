/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct follower - the instructions that one function reaches from its first byte, and what is
 * known before each. It is used for one function after another, and its memory is kept between
 * them. There are three steps: find the instructions, carry facts along every path until nothing
 * changes, report the rows.
 */
#pragma once

#include "base/cleanup.h"
#include "cfi/frame_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAX_FOLLOW_BYTES = 256 * 1024, /* of one function; generated functions reach 100 KiB */
	MAX_FOLLOW_STEPS =
		8 * 1000 * 1000, /* of one follower: instructions decoded and passed; a second */
};

struct follower;

struct follower *follower_new(void); /* NULL when out of memory */
void follower_free(struct follower *follower);
DEFINE_CLEANUP(struct follower *, follower_free)

/* Why a function is assumed to begin at an address. */
enum follow_entry {
	FOLLOW_CALLED,    /* something calls it, or a symbol says that it is a function */
	FOLLOW_GUESSED,   /* something points at it; it must prove itself by the way it returns */
	FOLLOW_OUTERMOST, /* the kernel jumps there: it has no caller */
};

/* Finds the instructions. `code` must stay valid until the last of the calls below. For a guess,
 * the search ends at the first bytes that are no instruction. -ENOMEM. */
int follower_explore(struct follower *follower, const uint8_t *code, size_t len, uint64_t address,
                     enum follow_entry entry);
/* Whether rows can be proven. Also false when the steps are used up. */
bool follower_solve(struct follower *follower, enum follow_entry entry);
/* Reports the rows after a follower_solve() that returned true, in ascending order. Returns 0 or
 * what fn returned. */
int follower_each_row(const struct follower *follower, frame_row_fn *fn, void *ctx);

/* Reports other functions that the instructions refer to. Either they are called (after
 * follower_solve() this includes functions that are jumped to with nothing of this function left on
 * the stack), or their address is taken. */
enum follow_reference { REFERENCE_CALL, REFERENCE_ADDRESS };
typedef int follow_reference_fn(uint64_t address, enum follow_reference how, void *ctx);
int follower_each_reference(const struct follower *follower, follow_reference_fn *fn, void *ctx);
