/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A list in the order in which the processes ended; kin_settle() goes through it once a minute.
 */
#include "proc/kin.h"

#include "base/bounds.h"
#include "base/clock.h"

#include <string.h>

enum { FIRST_CAPACITY = 256 };

/* A parent may end before or after its child, so a line of ancestors may be in the list in either
 * order. Each change of order within the line takes one more turn. */
enum { MAX_TURNS = 16 };

static const uint64_t keep_ns = MAX_CAPTURE_SECONDS * NSEC_PER_SEC;
static const uint64_t settle_ns = 60 * NSEC_PER_SEC;

_Static_assert(MAX_TASK_ID / 8 < KIN_NEEDED_BYTES, "a bit for each process");

void kin_release(struct kin *kin)
{
	free(kin->ended);
	*kin = (struct kin){0};
}

void kin_remember(struct kin *kin, const struct ended_process *ended)
{
	size_t capacity = kin->capacity ? 2 * kin->capacity : FIRST_CAPACITY;
	struct ended_process *grown;

	if (kin->count == kin->capacity) {
		grown = kin->count < MAX_KIN ? reallocarray(kin->ended, capacity, sizeof(*grown))
		                             : NULL;
		if (!grown) {
			kin->dropped++;
			return;
		}
		kin->ended = grown;
		kin->capacity = capacity;
	}
	kin->ended[kin->count++] = *ended;
}

bool kin_is_due(const struct kin *kin, uint64_t now_mono_ns)
{
	return kin->count &&
	       (kin->count >= MAX_KIN || now_mono_ns >= kin->settled_mono_ns + settle_ns);
}

void kin_need(uint8_t *needed, uint32_t pid)
{
	if (pid <= MAX_TASK_ID)
		needed[pid / 8] |= (uint8_t)(1 << pid % 8);
}

static bool is_needed(const uint8_t *needed, uint32_t pid)
{
	return pid <= MAX_TASK_ID && (needed[pid / 8] & 1 << pid % 8);
}

static bool is_kept(const struct ended_process *ended, const uint8_t *needed, uint64_t now_mono_ns)
{
	return ended->end_mono_ns + keep_ns >= now_mono_ns || is_needed(needed, ended->pid);
}

/* Goes through the list in alternating directions until no further ancestor is found. */
static void need_ancestors(const struct kin *kin, uint8_t *needed, uint64_t now_mono_ns)
{
	bool found = true;

	for (int turn = 0; found && turn < MAX_TURNS; turn++) {
		found = false;
		for (size_t i = 0; i < kin->count; i++) {
			size_t at = turn % 2 ? kin->count - 1 - i : i;
			const struct ended_process *ended = &kin->ended[at];

			if (is_needed(needed, ended->parent) ||
			    !is_kept(ended, needed, now_mono_ns))
				continue;
			kin_need(needed, ended->parent);
			found = true;
		}
	}
}

void kin_settle(struct kin *kin, uint8_t *needed, uint64_t now_mono_ns)
{
	size_t kept = 0, too_many;

	need_ancestors(kin, needed, now_mono_ns);
	for (size_t i = 0; i < kin->count; i++) {
		if (is_kept(&kin->ended[i], needed, now_mono_ns))
			kin->ended[kept++] = kin->ended[i];
	}
	/* Leaves a quarter of the room for the next minute. */
	too_many = kept > MAX_KIN / 4 * 3 ? kept - MAX_KIN / 4 * 3 : 0;
	if (too_many)
		memmove(kin->ended, kin->ended + too_many, (kept - too_many) * sizeof(*kin->ended));
	kin->count = kept - too_many;
	kin->dropped += too_many;
	kin->settled_mono_ns = now_mono_ns;
}
