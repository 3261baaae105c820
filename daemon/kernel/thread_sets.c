/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "kernel/thread_sets.h"

#include <stdlib.h>
#include <string.h>

struct thread_sets {
	size_t entry_size;
	unsigned char *entries; /* THREAD_PLACES; the places of a set one after another */
};

struct thread_sets *thread_sets_new(size_t entry_size)
{
	_cleanup_(thread_sets_freep) struct thread_sets *sets = calloc(1, sizeof(*sets));

	if (!sets)
		return NULL;
	sets->entry_size = entry_size;
	sets->entries = calloc(THREAD_PLACES, entry_size);
	return sets->entries ? TAKE_PTR(sets) : NULL;
}

void thread_sets_free(struct thread_sets *sets)
{
	if (sets)
		free(sets->entries);
	free(sets);
}

void *thread_sets_place(struct thread_sets *sets, size_t i)
{
	return sets->entries + i * sets->entry_size;
}

void *thread_sets_place_of(struct thread_sets *sets, u32 tid, size_t i)
{
	size_t set = (tid * 2654435761u >> 16) % (THREAD_PLACES / THREAD_SET_PLACES);

	return thread_sets_place(sets, set * THREAD_SET_PLACES + i);
}

void *thread_sets_find(struct thread_sets *sets, const struct tally_key *key)
{
	for (size_t i = 0; i < THREAD_SET_PLACES; i++) {
		struct thread_place *place = thread_sets_place_of(sets, key->tid, i);

		if (place->round && place->tid == key->tid && place->image == key->image)
			return place;
	}
	return NULL;
}

void *thread_sets_find_or_add(struct thread_sets *sets, const struct tally_key *key, u64 round)
{
	struct thread_place *oldest = thread_sets_find(sets, key);

	if (oldest)
		return oldest;
	oldest = thread_sets_place_of(sets, key->tid, 0);
	for (size_t i = 1; i < THREAD_SET_PLACES; i++) {
		struct thread_place *place = thread_sets_place_of(sets, key->tid, i);

		if (place->round < oldest->round)
			oldest = place;
	}
	if (oldest->round == round)
		return NULL;
	memset(oldest, 0, sets->entry_size);
	oldest->tid = key->tid;
	oldest->image = key->image;
	return oldest;
}
