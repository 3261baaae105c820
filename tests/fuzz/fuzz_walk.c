/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half's walker over tables, mappings, registers and memory of any bytes: it stays
 * within the maps, ends, and reads no more of the stack than a walk of that many frames can need.
 */
#include "tests/bpf/walker.h"

#include <stdlib.h>
#include <string.h>

enum {
	PID = 5,
	POOL_WORDS = 2048,
	TABLES = 4,
	MAPPINGS = 8,
	SLOTS = 2 * SLOTS_PER_BUCKET,
	/* A step reads at most a CFA, a frame pointer and a return address, twice if it falls back
	 * on the frame pointer. */
	MAX_READS = MAX_USER_FRAMES * 6,
};

/* Takes its bytes from the input, then zeros. */
struct input {
	const uint8_t *data;
	size_t size;
};

static void take(struct input *input, void *into, size_t len)
{
	size_t part = len < input->size ? len : input->size;

	memset(into, 0, len);
	if (part == 0)
		return;
	memcpy(into, input->data, part);
	input->data += part;
	input->size -= part;
}

/* Memory is what is left of the input, again and again, but for some pages that are missing. */
static int read_memory(u64 address, void *into, size_t len, void *ctx)
{
	const struct input *input = ctx;
	uint8_t *to = into;

	if (input->size == 0 || (address >> 12) % 7 == 6)
		return -1;
	for (size_t i = 0; i < len; i++)
		to[i] = input->data[(address + i) % input->size];
	return 0;
}

static void *allocate(size_t count, size_t size)
{
	void *values = calloc(count, size);

	if (!values)
		abort();
	return values;
}

static void check(walker_fn *walker, const struct walker_input *input)
{
	struct walker_result result;

	walker(input, &result);
	if (result.len > MAX_USER_FRAMES || result.reads > MAX_READS)
		abort();
}

/* Small numbers where the walker takes numbers for places, so that most inputs get somewhere. */
static void tame(struct walker_maps *maps)
{
	for (size_t i = 0; i < TABLES; i++) {
		maps->tables[i].text &= ~(u64)(BLOCK_BYTES - 1) & 0xfff;
		maps->tables[i].base %= POOL_WORDS + 16;
	}
	for (size_t i = 0; i < MAPPINGS; i++) {
		struct unwind_mapping *mapping = &maps->mappings[i];

		mapping->start = i << 16;
		mapping->end = mapping->start + (mapping->end & 0x1ffff);
		mapping->bias = mapping->start;
		mapping->table %= TABLES + 1;
	}
	maps->slots[PID * SLOTS_PER_BUCKET % SLOTS] =
		(u64)PID << SLOT_PID_SHIFT | 0ULL << SLOT_FIRST_SHIFT | MAPPINGS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input left = {data, size};
	struct walker_maps maps = {
		.pool = allocate(POOL_WORDS, sizeof(*maps.pool)),
		.pool_words = POOL_WORDS,
		.tables = allocate(TABLES, sizeof(*maps.tables)),
		.table_count = TABLES,
		.mappings = allocate(MAPPINGS, sizeof(*maps.mappings)),
		.mapping_count = MAPPINGS,
		.slots = allocate(SLOTS, sizeof(*maps.slots)),
		.slot_count = SLOTS,
	};
	struct walker_input input = {.maps = &maps, .pid = PID, .read = read_memory, .ctx = &left};
	uint8_t wild;

	take(&left, &wild, sizeof(wild));
	take(&left, &input.pc, sizeof(input.pc));
	take(&left, input.registers, sizeof(input.registers));
	take(&left, maps.tables, TABLES * sizeof(*maps.tables));
	take(&left, maps.mappings, MAPPINGS * sizeof(*maps.mappings));
	take(&left, maps.slots, SLOTS * sizeof(*maps.slots));
	take(&left, maps.pool, size < 2048 ? 256 : POOL_WORDS * sizeof(*maps.pool));
	if (!(wild & 1))
		tame(&maps);
	check(walker_x86, &input);
	check(walker_arm64, &input);
	free(maps.pool);
	free(maps.tables);
	free(maps.mappings);
	free(maps.slots);
	return 0;
}
