/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct turns - how much time of a serial worker each owner has used lately. The worker serves the
 * owner that used least, so that an owner with long jobs waits for the others and not they for it.
 * The amounts are halved every half minute. Only the TURNS_KEPT owners that used most are known.
 * Initialize with zeroes. Owned by one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TURNS_KEPT = 16 };

struct turns {
	struct {
		uint64_t owner, used_ns; /* used_ns is 0 in a free entry */
	} accounts[TURNS_KEPT];
	uint64_t aged_ns;
};

void turns_note(struct turns *turns, uint64_t owner, uint64_t took_ns);
uint64_t turns_used(const struct turns *turns, uint64_t owner);
/* Halves the amounts as often as the time passed requires; now_ns is CLOCK_MONOTONIC. */
void turns_age(struct turns *turns, uint64_t now_ns);
