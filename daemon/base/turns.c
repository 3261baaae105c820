/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The accounts are few, so each operation goes through all of them.
 */
#include "base/turns.h"

#include "base/clock.h"

#define HALF_NS (30 * NSEC_PER_SEC)

enum { MAX_HALVINGS = 63 };

void turns_note(struct turns *turns, uint64_t owner, uint64_t took_ns)
{
	size_t least = 0;

	for (size_t i = 0; i < TURNS_KEPT; i++) {
		if (turns->accounts[i].used_ns && turns->accounts[i].owner == owner) {
			turns->accounts[i].used_ns += took_ns;
			return;
		}
		if (turns->accounts[i].used_ns < turns->accounts[least].used_ns)
			least = i;
	}
	if (took_ns <= turns->accounts[least].used_ns)
		return;
	turns->accounts[least].owner = owner;
	turns->accounts[least].used_ns = took_ns;
}

uint64_t turns_used(const struct turns *turns, uint64_t owner)
{
	for (size_t i = 0; i < TURNS_KEPT; i++)
		if (turns->accounts[i].owner == owner)
			return turns->accounts[i].used_ns;
	return 0;
}

void turns_age(struct turns *turns, uint64_t now_ns)
{
	uint64_t halvings = (now_ns - turns->aged_ns) / HALF_NS;

	if (!halvings)
		return;
	for (size_t i = 0; i < TURNS_KEPT; i++)
		turns->accounts[i].used_ns >>= halvings < MAX_HALVINGS ? halvings : MAX_HALVINGS;
	turns->aged_ns += halvings * HALF_NS;
}
