/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A chunk is given back in three steps: it is hidden from walkers, then every CPU must have been
 * outside the walker, and then it is closed. profd does not rely on the kernel to keep a map that a
 * BPF program still reads.
 */
#include "unwind/chunks.h"

#include "base/bounds.h"
#include "unwind/pool.h"

enum {
	EMPTY_EPOCHS = 5,
	/* One more chunk is made at once for this many existing ones. */
	GROWTH_SHARE = 4,
	MAX_AT_ONCE = 8,
};

struct chunk {
	struct pool *pool; /* NULL: the chunk does not exist */
	uint32_t *words;
	uint32_t empty_since; /* epoch; 0: not empty, or not yet seen to be empty */
	bool hidden;          /* from walkers */
};

struct chunks {
	const struct unwind_memory *memory;
	struct chunk *items;
	uint32_t count;
	uint32_t epoch, failed_epoch; /* now; when making a chunk last failed */
};

struct chunks *chunks_new(const struct unwind_memory *memory)
{
	struct chunks *chunks = calloc(1, sizeof(*chunks));

	if (!chunks)
		return NULL;
	chunks->memory = memory;
	chunks->count = memory->chunk_count < MAX_UNWIND_CHUNKS ? (uint32_t)memory->chunk_count
	                                                        : MAX_UNWIND_CHUNKS;
	chunks->items = calloc(chunks->count + 1, sizeof(*chunks->items));
	if (!chunks->items) {
		free(chunks);
		return NULL;
	}
	return chunks;
}

void chunks_free(struct chunks *chunks)
{
	if (!chunks)
		return;
	for (uint32_t i = 0; i < chunks->count; i++)
		pool_free(chunks->items[i].pool);
	free(chunks->items);
	free(chunks);
}

static bool is_open(const struct chunk *chunk)
{
	return chunk->pool && !chunk->hidden;
}

/* Whether making a chunk failed in this epoch. */
static bool was_refused(const struct chunks *chunks)
{
	return chunks->failed_epoch && chunks->failed_epoch == chunks->epoch;
}

/* How many chunks to make at once, from `first` on and up to the next existing one. */
static uint32_t growth_from(const struct chunks *chunks, uint32_t first)
{
	uint32_t there = 0, wanted, count = 0;

	for (uint32_t i = 0; i < chunks->count; i++)
		there += chunks->items[i].pool != NULL;
	wanted = there / GROWTH_SHARE;
	wanted = wanted < 1 ? 1 : wanted > MAX_AT_ONCE ? MAX_AT_ONCE : wanted;
	while (count < wanted && first + count < chunks->count &&
	       !chunks->items[first + count].pool)
		count++;
	return count;
}

static bool open_some(struct chunks *chunks, uint32_t first)
{
	uint32_t count = growth_from(chunks, first), opened = 0;
	uint32_t *words[MAX_AT_ONCE];
	bool has_pools = true;

	for (uint32_t i = 0; i < count && has_pools; i++) {
		struct chunk *chunk = &chunks->items[first + i];

		chunk->pool = pool_new(CHUNK_WORDS - CHUNK_SLACK, CHUNK_GRAIN);
		has_pools = chunk->pool != NULL;
	}
	if (has_pools)
		opened = chunks->memory->open_chunks(first, count, words, chunks->memory->ctx);
	for (uint32_t i = 0; i < count; i++) {
		struct chunk *chunk = &chunks->items[first + i];

		if (i < opened) {
			chunk->words = words[i];
			continue;
		}
		pool_free(chunk->pool);
		chunk->pool = NULL;
	}
	/* Do not try again for every table in this epoch. */
	if (opened < count)
		chunks->failed_epoch = chunks->epoch;
	return opened;
}

static uint32_t take_from(struct chunks *chunks, uint32_t number, size_t count)
{
	struct chunk *chunk = &chunks->items[number];
	size_t first = pool_take(chunk->pool, count);

	if (first)
		chunk->empty_since = 0;
	return first ? number << CHUNK_BITS | (uint32_t)first : 0;
}

uint32_t chunks_take(struct chunks *chunks, size_t count)
{
	uint32_t base = 0;

	if (count > CHUNK_ROOM)
		return 0;
	for (uint32_t i = 0; i < chunks->count && !base; i++)
		if (is_open(&chunks->items[i]))
			base = take_from(chunks, i, count);
	if (was_refused(chunks))
		return base;
	for (uint32_t i = 0; i < chunks->count && !base; i++) {
		if (chunks->items[i].pool)
			continue;
		if (!open_some(chunks, i))
			return 0;
		base = take_from(chunks, i, count);
	}
	return base;
}

void chunks_give(struct chunks *chunks, uint32_t base, size_t count)
{
	pool_give(chunks->items[base >> CHUNK_BITS].pool, base & (CHUNK_WORDS - 1), count);
}

uint32_t *chunks_words(const struct chunks *chunks, uint32_t base)
{
	return chunks->items[base >> CHUNK_BITS].words + (base & (CHUNK_WORDS - 1));
}

size_t chunks_free_words(const struct chunks *chunks)
{
	size_t words = 0;

	for (uint32_t i = 0; i < chunks->count; i++) {
		const struct chunk *chunk = &chunks->items[i];

		words += chunk->pool ? pool_free_elements(chunk->pool) : CHUNK_ROOM;
	}
	return words;
}

size_t chunks_free_in(const struct chunks *chunks, uint32_t number)
{
	const struct chunk *chunk = number < chunks->count ? &chunks->items[number] : NULL;

	if (!chunk || chunk->hidden)
		return 0;
	if (!chunk->pool)
		return was_refused(chunks) ? 0 : CHUNK_ROOM;
	return pool_free_elements(chunk->pool);
}

size_t chunks_room(const struct chunks *chunks)
{
	size_t most = 0;

	for (uint32_t i = 0; i < chunks->count && most < CHUNK_ROOM; i++) {
		size_t words = chunks_free_in(chunks, i);

		most = words > most ? words : most;
	}
	return most;
}

size_t chunks_all_words(const struct chunks *chunks)
{
	return (size_t)chunks->count * CHUNK_ROOM;
}

static bool is_empty(const struct chunk *chunk)
{
	return is_open(chunk) && pool_free_elements(chunk->pool) == CHUNK_ROOM;
}

/* Hides a chunk that has been empty for long. Only one a call, so that runs may be taken from the
 * others first. Returns whether any chunk is hidden. */
static bool hide_empty(struct chunks *chunks)
{
	bool hidden = false, hid_one = false;

	for (uint32_t i = 0; i < chunks->count; i++) {
		struct chunk *chunk = &chunks->items[i];

		if (is_empty(chunk) && !chunk->empty_since)
			chunk->empty_since = chunks->epoch;
		if (!hid_one && is_empty(chunk) &&
		    chunks->epoch - chunk->empty_since >= EMPTY_EPOCHS) {
			chunks->memory->hide_chunk(i, chunks->memory->ctx);
			chunk->hidden = hid_one = true;
		}
		hidden = hidden || chunk->hidden;
	}
	return hidden;
}

void chunks_tend(struct chunks *chunks, uint32_t epoch)
{
	chunks->epoch = epoch;
	if (!hide_empty(chunks) || !unwind_memory_quiet(chunks->memory))
		return;
	for (uint32_t i = 0; i < chunks->count; i++) {
		struct chunk *chunk = &chunks->items[i];

		if (!chunk->hidden)
			continue;
		chunks->memory->close_chunk(i, chunks->memory->ctx);
		pool_free(chunk->pool);
		*chunk = (struct chunk){0};
	}
}
