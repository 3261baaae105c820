/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures what the samples of each account cost a slice, and puts the samples of one account under
 * one frame. Its ticks then still count for each process, but their stacks are gone. Pure; any
 * thread.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* The memory that an account's samples take, including nodes, locations, strings and everything
 * else. What several accounts use is charged to the first of them. */
struct weight {
	uint32_t account;
	bool folded; /* it cannot become smaller */
	size_t bytes;
};

struct weights {
	struct weight *items; /* one per account */
	size_t count;
};

/* When memory runs out, the result is incomplete or empty. */
void weights_find(const struct profile *slice, struct weights *ret_weights);
void weights_release(struct weights *weights);
struct weight *weights_of(const struct weights *weights, uint32_t account); /* or NULL */

/* Replaces *slice by a slice with the account's samples under FOLDED_FRAME of select.h. Returns how
 * many samples were not under it before. When memory runs out, *slice remains and 0 is returned. */
uint64_t fold(struct profile **slice, uint32_t account);
