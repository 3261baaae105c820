/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half's walker over tables, mappings, registers, memory and descriptions of CPython,
 * all made from any bytes: it stays within the maps, ends, and reads no more than a walk of that
 * many frames can need.
 */
#include "tests/bpf/walker.h"

#include <stdlib.h>
#include <string.h>

enum {
	PID = 5,
	POOL_WORDS = 2 * CHUNK_WORDS,
	POOL_FILLED = 2048, /* words of each chunk that come from the input */
	TABLES = 4,
	MAPPINGS = 8,
	SLOTS = 2 * SLOTS_PER_BUCKET,
	THREAD_ID = 0x7000,
	/* A step reads at most a CFA, a frame pointer and a return address, twice if it falls back
	 * on the frame pointer. */
	MAX_READS = MAX_USER_FRAMES * 6,
	/* Three for each thread state while the walker looks for the thread's, six when it may be
	 * the right one. For a Python frame: the frame, its code, the fields that are reported, its
	 * entry; twice for what is inspected. */
	MAX_PYTHON_READS = MAX_PYTHON_SEARCHES * 9 + 4096 * 16,
};

/* In a tame input, numbers small enough to lie in a mapping and on the stack. */
enum { MAPPING_BITS = 13, TAME_MASK = (MAPPINGS << MAPPING_BITS) - 1, TAME_BLOCKS = 32 };

/* Yields bytes of the input, then zeros. */
struct input {
	const uint8_t *data;
	size_t size;
	bool tame;
	/* Tame, and every other word is the address of an object. A thread's own id is at byte 56
	 * of each 64. */
	bool objects;
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

/* Memory repeats the rest of the input; some pages are missing. */
static int read_memory(u64 address, void *into, size_t len, void *ctx)
{
	const struct input *input = ctx;
	const u64 id = THREAD_ID;
	uint8_t *to = into;

	if (input->size == 0 || (address >> 12) % 7 == 6)
		return -1;
	for (size_t i = 0; i < len; i++) {
		unsigned shift = (unsigned)(address + i) % sizeof(u64) * 8;

		to[i] = input->data[(address + i) % input->size];
		if (input->tame)
			to[i] &= (uint8_t)((u64)TAME_MASK >> shift);
		if (input->objects && shift == 0 && !((address + i) & 8))
			to[i] &= 0xf8;
	}
	if (input->objects && len == sizeof(id) && address % 64 == 56)
		memcpy(into, &id, sizeof(id));
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
	if (result.len >= WALKER_MAX_WORDS || (!input->python && result.len > MAX_USER_FRAMES) ||
	    result.reads > MAX_READS + (input->python ? MAX_PYTHON_READS : 0))
		abort();
}

static int check_thread(const void *bytes)
{
	struct python_thread_told thread;

	memcpy(&thread, bytes, sizeof(thread));
	if ((thread.word & WORD_KIND) != WORD_THREAD || thread.unused)
		abort();
	return thread.word & 1 ? -1 : 0;
}

/* A report can be decoded. */
static int check_told(const void *bytes, size_t len, void *ctx)
{
	const u64 *signature = bytes;
	struct python_code code;
	size_t lines;

	(void)ctx;
	if (len == sizeof(struct python_thread_told))
		return check_thread(bytes);
	memcpy(&code, bytes, sizeof(code));
	lines = code.lines_bytes < MAX_PYTHON_LINES ? code.lines_bytes : MAX_PYTHON_LINES;
	if (code.name_bytes > MAX_PYTHON_NAME || code.file_bytes > MAX_PYTHON_FILE ||
	    len != sizeof(code) + code.name_bytes + code.file_bytes + lines || !code.version ||
	    *signature & WORD_KIND)
		abort();
	return *signature & 1 ? -1 : 0;
}

/* Offsets small enough to read something in memory whose addresses are small, too. */
static void tame_python(struct python_process *python)
{
	u16 *offsets = &python->interpreter_next;

#define OFFSET(name) *offsets++ &= 0x78;
	PYTHON_OFFSETS(OFFSET)
#undef OFFSET
	python->interpreters = python->interpreters & TAME_MASK;
	python->gil &= TAME_MASK;
	python->entry = python->entry % PYTHON_ENTRY_SHIM + PYTHON_ENTRY_LOOP;
}

static struct walker_python *take_python(struct input *left, bool tame)
{
	struct walker_python *python = allocate(1, sizeof(*python));

	take(left, &python->process, sizeof(python->process));
	take(left, &python->thread_pointer, sizeof(python->thread_pointer));
	python->told = check_told;
	python->process.version = 0x030c;
	if (tame) {
		tame_python(&python->process);
		python->thread_pointer &= TAME_MASK;
	}
	return python;
}

/* Small numbers wherever the walker uses numbers as places, so that most inputs lead somewhere. */
static void tame_maps(struct walker_maps *maps)
{
	for (size_t i = 0; i < TABLES; i++) {
		struct unwind_table *table = &maps->tables[i];

		table->text &= BLOCK_BYTES;
		table->blocks %= TAME_BLOCKS + 1;
		table->base = table->base % (POOL_FILLED + 16) | (table->base & CHUNK_WORDS);
		for (size_t j = table->base; j < table->base + TAME_BLOCKS && j < POOL_WORDS; j++)
			maps->pool[j] &= 0x1ffU << (32 - INDEX_FIRST_BITS) | (BLOCK_BYTES - 1);
	}
	for (size_t i = 0; i < MAPPINGS; i++) {
		struct unwind_mapping *mapping = &maps->mappings[i];

		mapping->start = i << MAPPING_BITS;
		mapping->end = mapping->start + (mapping->end & ((1 << (MAPPING_BITS + 1)) - 1));
		mapping->bias = mapping->start;
		mapping->table %= TABLES + 1;
		mapping->pieces &= 1;
	}
	maps->slots[PID * SLOTS_PER_BUCKET % SLOTS] =
		(u64)PID << SLOT_PID_SHIFT | 0ULL << SLOT_FIRST_SHIFT | MAPPINGS;
}

static void tame_registers(struct walker_input *input)
{
	input->pc &= TAME_MASK;
	for (size_t i = 0; i < sizeof(input->registers) / sizeof(*input->registers); i++)
		input->registers[i] &= TAME_MASK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input left = {data, size, false, false};
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
	if (wild & 2)
		input.python = take_python(&left, !(wild & 1));
	if (input.python && (wild & 5) == 4) {
		left.objects = true;
		input.python->thread_pointer = THREAD_ID;
		input.python->process.thread_id = 56;
	}
	take(&left, maps.pool, size < 2048 ? 256 : POOL_FILLED * sizeof(*maps.pool));
	memcpy(maps.pool + CHUNK_WORDS, maps.pool, POOL_FILLED * sizeof(*maps.pool));
	if (!(wild & 1)) {
		left.tame = true;
		tame_maps(&maps);
		tame_registers(&input);
	}
	check(walker_x86, &input);
	check(walker_arm64, &input);
	/* Once more, with the remembered state. */
	if (input.python)
		check(walker_x86, &input);
	free(input.python);
	free(maps.pool);
	free(maps.tables);
	free(maps.mappings);
	free(maps.slots);
	return 0;
}
