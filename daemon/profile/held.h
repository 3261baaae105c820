/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct held - memory that an answer holds from its capture until it is rendered, beside the
 * slices of the history: a queue of many such answers could hold any amount. All of them may hold
 * MAX_HELD_BYTES, of which each account has a share; an eighth is kept for root. Loop thread only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MAX_HELD_BYTES = 64 << 20 };

/* All zero: nothing is held. */
struct held {
	uint64_t account;
	size_t bytes;
};

/* 0, or -ENOBUFS: it would exceed the account's share. Account 0 is root's, which may take all that
 * is left. */
int held_take(struct held *held, uint64_t account, size_t bytes);
void held_give(struct held *held); /* nothing is held afterwards */
