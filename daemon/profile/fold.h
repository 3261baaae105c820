/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the samples of each account cost a slice, and putting those of one account under one frame:
 * its ticks still count, for each process, but where they were is gone. Pure; any thread.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>

/* What an account's samples cost: nodes, locations, strings and all. What several use is the first
 * one's. */
struct weight {
	uint32_t account;
	bool folded; /* it cannot become less */
	size_t bytes;
};

struct weights {
	struct weight *items; /* no account twice */
	size_t count;
};

/* Out of memory there is less in it, or nothing. */
void weights_find(const struct profile *slice, struct weights *ret_weights);
void weights_release(struct weights *weights);
struct weight *weights_of(const struct weights *weights, uint32_t account); /* or NULL */

/* The slice with the account's samples under FOLDED_FRAME of select.h, in place of *slice, and how
 * many they are that were not before. Out of memory it stays as it is, and they are none. */
uint64_t fold(struct profile **slice, uint32_t account);
