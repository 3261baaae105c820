/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An array in the order of addition, the newest last.
 */
#include "memory/keepsakes.h"

#include "base/accounts.h"

#include <string.h>

struct keepsakes {
	struct keepsake at[MAX_KEEPSAKES +
	                   1]; /* one more, because a new one is added before one is evicted */
	size_t count;
	size_t max_bytes, bytes;
	uint32_t last_id;
	uint64_t of_reason[KEEPSAKE_REASON_COUNT], evicted;
};

#define REASON(name, text) text,
const char *const keepsake_reason_texts[KEEPSAKE_REASON_COUNT] = {KEEPSAKE_REASONS(REASON)};
#undef REASON

struct keepsakes *keepsakes_new(size_t max_bytes)
{
	struct keepsakes *keepsakes = calloc(1, sizeof(*keepsakes));

	if (keepsakes)
		keepsakes->max_bytes = max_bytes;
	return keepsakes;
}

static void drop(struct keepsakes *keepsakes, size_t index)
{
	keepsakes->bytes -= keepsakes->at[index].profile->memory_bytes;
	profile_unref(keepsakes->at[index].profile);
	keepsakes->count--;
	memmove(&keepsakes->at[index], &keepsakes->at[index + 1],
	        (keepsakes->count - index) * sizeof(keepsakes->at[0]));
}

void keepsakes_free(struct keepsakes *keepsakes)
{
	if (!keepsakes)
		return;
	while (keepsakes->count)
		drop(keepsakes, keepsakes->count - 1);
	free(keepsakes);
}

/* For the host's memory, any new keepsake replaces one of a process near its limit, and none
 * replaces one of a killed process. For the memory of GPUs, the latest of a kind counts. */
static bool outdoes(const struct keepsake *keepsake, const struct keepsake *old)
{
	if (keepsake->reason == KEEPSAKE_gpu_memory)
		return old->reason == KEEPSAKE_gpu_memory && old->kind == keepsake->kind;
	return old->reason == KEEPSAKE_near_limit;
}

/* Drops older keepsakes of the same process that the new one replaces. A pid may be reused, so the
 * names must be equal as well. Two processes with the same pid and name are not distinguished. */
static void drop_outdone(struct keepsakes *keepsakes, const struct keepsake *by)
{
	for (size_t i = keepsakes->count; i-- > 0;) {
		const struct keepsake *old = &keepsakes->at[i];

		if (old->pid == by->pid && outdoes(by, old) && !strcmp(old->comm, by->comm))
			drop(keepsakes, i);
	}
}

static bool is_of(const struct keepsake *keepsake, uint32_t owner)
{
	return account_of(keepsake->owner) == account_of(owner);
}

static size_t bytes_of(const struct keepsakes *keepsakes, uint32_t owner)
{
	size_t bytes = 0;

	for (size_t i = 0; i < keepsakes->count; i++)
		if (is_of(&keepsakes->at[i], owner))
			bytes += keepsakes->at[i].profile->memory_bytes;
	return bytes;
}

static size_t count_of(const struct keepsakes *keepsakes, uint32_t owner)
{
	size_t count = 0;

	for (size_t i = 0; i < keepsakes->count; i++)
		count += is_of(&keepsakes->at[i], owner);
	return count;
}

/* The user with most keepsakes when there are too many; otherwise the user with most bytes. */
static uint32_t greediest(const struct keepsakes *keepsakes)
{
	bool too_many = keepsakes->count > MAX_KEEPSAKES;
	uint32_t greediest = keepsakes->at[0].owner;
	size_t most = 0;

	for (size_t i = 0; i < keepsakes->count; i++) {
		uint32_t owner = keepsakes->at[i].owner;
		size_t has = too_many ? count_of(keepsakes, owner) : bytes_of(keepsakes, owner);

		if (has > most) {
			most = has;
			greediest = owner;
		}
	}
	return greediest;
}

/* The keepsake of the user to drop first. The newest of all is chosen only when the user has no
 * other. */
static size_t least_worth(const struct keepsakes *keepsakes, uint32_t owner)
{
	size_t oldest = keepsakes->count;

	for (size_t i = 0; i < keepsakes->count; i++) {
		const struct keepsake *keepsake = &keepsakes->at[i];

		if (!is_of(keepsake, owner))
			continue;
		if (oldest == keepsakes->count)
			oldest = i;
		if (keepsake->reason == KEEPSAKE_near_limit && i + 1 < keepsakes->count)
			return i;
	}
	return oldest;
}

static void evict(struct keepsakes *keepsakes)
{
	while (keepsakes->count > MAX_KEEPSAKES ||
	       (keepsakes->bytes > keepsakes->max_bytes && keepsakes->count > 1)) {
		drop(keepsakes, least_worth(keepsakes, greediest(keepsakes)));
		keepsakes->evicted++;
	}
}

void keepsakes_resize(struct keepsakes *keepsakes, size_t max_bytes)
{
	keepsakes->max_bytes = max_bytes;
	evict(keepsakes);
}

uint32_t keepsakes_add(struct keepsakes *keepsakes, const struct keepsake *keepsake)
{
	struct keepsake *added;

	drop_outdone(keepsakes, keepsake);
	added = &keepsakes->at[keepsakes->count++];
	*added = *keepsake;
	added->id = ++keepsakes->last_id;
	keepsakes->of_reason[keepsake->reason]++;
	keepsakes->bytes += keepsake->profile->memory_bytes;
	evict(keepsakes);
	return keepsakes->last_id;
}

const struct keepsake *keepsakes_at(const struct keepsakes *keepsakes, size_t index)
{
	return index < keepsakes->count ? &keepsakes->at[keepsakes->count - 1 - index] : NULL;
}

const struct keepsake *keepsakes_find(const struct keepsakes *keepsakes, uint32_t id)
{
	for (size_t i = 0; i < keepsakes->count; i++)
		if (keepsakes->at[i].id == id)
			return &keepsakes->at[i];
	return NULL;
}

void keepsakes_get_stats(const struct keepsakes *keepsakes, struct keepsakes_stats *ret_stats)
{
	*ret_stats = (struct keepsakes_stats){
		.kept = keepsakes->count,
		.bytes = keepsakes->bytes,
		.killed = keepsakes->of_reason[KEEPSAKE_killed],
		.gpu_memory = keepsakes->of_reason[KEEPSAKE_gpu_memory],
		.near_limit = keepsakes->of_reason[KEEPSAKE_near_limit],
		.evicted = keepsakes->evicted,
	};
}
