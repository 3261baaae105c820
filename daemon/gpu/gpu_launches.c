/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hash table, which keeps the order of insertion, and a queue for each place of accounts.
 */
#include "gpu/gpu_launches.h"

#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

struct key {
	uint64_t correlation;
	uint32_t pid, image;
};

struct entry {
	struct key key;
	struct gpu_launch launch;
	uint8_t account;
	struct entry *prev, *next; /* of the account's queue */
	UT_hash_handle hh;
	uint64_t words[];
};

struct of_account {
	struct entry *oldest;
	size_t bytes, count;
};

struct gpu_launches {
	struct entry *first;
	size_t bytes;
	uint64_t unused;
	struct of_account of[ACCOUNT_PLACES];
};

struct gpu_launches *gpu_launches_new(void)
{
	return calloc(1, sizeof(struct gpu_launches));
}

static size_t bytes_of(size_t words)
{
	return sizeof(struct entry) + words * sizeof(uint64_t);
}

static void drop(struct gpu_launches *launches, struct entry *entry)
{
	launches->unused += !entry->launch.used;
	launches->bytes -= bytes_of(entry->launch.count);
	launches->of[entry->account].bytes -= bytes_of(entry->launch.count);
	launches->of[entry->account].count--;
	DL_DELETE(launches->of[entry->account].oldest, entry);
	HASH_DEL(launches->first, entry);
	free(entry);
}

void gpu_launches_free(struct gpu_launches *launches)
{
	while (launches && launches->first)
		drop(launches, launches->first);
	free(launches);
}

static struct entry *find(const struct gpu_launches *launches, const struct gpu_event *event)
{
	const struct key key = {event->address, event->pid, event->image};
	struct entry *entry;

	HASH_FIND(hh, launches->first, &key, sizeof(key), entry);
	return entry;
}

/* The oldest launch of the account that has most launches, or most bytes. */
static struct entry *oldest_of_most(const struct gpu_launches *launches, bool by_count)
{
	const struct of_account *most = launches->of;

	for (const struct of_account *of = most; of < launches->of + ACCOUNT_PLACES; of++)
		if (by_count ? of->count > most->count : of->bytes > most->bytes)
			most = of;
	return most->oldest;
}

static void make_room(struct gpu_launches *launches, size_t bytes)
{
	while (HASH_COUNT(launches->first) >= MAX_GPU_LAUNCHES)
		drop(launches, oldest_of_most(launches, true));
	while (launches->first && launches->bytes + bytes > MAX_GPU_LAUNCH_BYTES)
		drop(launches, oldest_of_most(launches, false));
}

int gpu_launches_add(struct gpu_launches *launches, const struct gpu_event *event,
                     const uint64_t *words)
{
	struct entry *entry = find(launches, event);
	size_t bytes = bytes_of(event->words);

	if (entry)
		drop(launches, entry);
	make_room(launches, bytes);
	entry = malloc(bytes);
	if (!entry)
		return -ENOMEM;
	entry->key = (struct key){event->address, event->pid, event->image};
	entry->account = event->account;
	entry->launch = (struct gpu_launch){
		.time_ns = event->time_ns,
		.tid = event->tid,
		.count = event->words,
		.words = entry->words,
	};
	memcpy(entry->words, words, event->words * sizeof(uint64_t));
	HASH_ADD(hh, launches->first, key, sizeof(entry->key), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return -ENOMEM;
	}
	DL_APPEND(launches->of[entry->account].oldest, entry);
	launches->of[entry->account].bytes += bytes;
	launches->of[entry->account].count++;
	launches->bytes += bytes;
	return 0;
}

const struct gpu_launch *gpu_launches_use(struct gpu_launches *launches,
                                          const struct gpu_event *event)
{
	struct entry *entry = find(launches, event);

	if (!entry)
		return NULL;
	entry->launch.used = true;
	return &entry->launch;
}

void gpu_launches_expire(struct gpu_launches *launches, uint64_t mono_ns)
{
	while (launches->first && launches->first->launch.time_ns < mono_ns)
		drop(launches, launches->first);
}

size_t gpu_launches_count(const struct gpu_launches *launches)
{
	return HASH_COUNT(launches->first);
}

uint64_t gpu_launches_unused(const struct gpu_launches *launches)
{
	return launches->unused;
}
