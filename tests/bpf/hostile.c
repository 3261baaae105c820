/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables that no daemon would write: the walker reads nothing outside them and reports that it
 * cannot go on.
 */
#include "tests/bpf/recorded.h"
#include "tests/bpf/suites.h"

#include <string.h>

enum {
	POOL = CHUNK_WORDS,
	BASE = 16,               /* of the table, in its chunk */
	OP_ROW = X86_FP_MAX + 1, /* OP_SP, CFA rsp + 8 */
};

#define INDEX(first, count) ((u32)(first) << 8 | ((u32)(count)-1))
#define NAMED(name)         (OP_NAMED << OP_BASE_SHIFT | (name))
#define RULE(number)        (OP_RULE << OP_BASE_SHIFT | (number))

/* A table of one block with arbitrary contents. */
struct hostile {
	const char *name;
	struct unwind_table table;
	struct unwind_mapping mapping; /* end 0: the mapping of recorded_mappings() */
	u32 words[16];                 /* written from BASE on */
	u64 slot;                      /* 0: the slot that leads to that mapping */
	const char *ended;
};

static const struct hostile tables[] = {
	{
		.name = "rows beyond the chunk",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(0xffffff, 256)},
		.ended = "cut_no_rows",
	},
	{
		.name = "rows in the chunk's last words",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(POOL - BASE - BLOCK_BYTES - 1, 256)},
		.ended = "cut_bad_frame",
	},
	{
		.name = "a base beyond all chunks",
		.table = {.blocks = 1, .base = 0xffffffff},
		.ended = "cut_no_rows",
	},
	{
		.name = "a base that wraps around with the block's number",
		.table = {.blocks = 0xffffffff, .base = 0xffffff00, .text = -0x10000ULL},
		.ended = "cut_no_rows",
	},
	{
		.name = "code before the table's text",
		.table = {.blocks = 1, .base = BASE, .text = 0x100000},
		.ended = "cut_no_rows",
	},
	{
		.name = "no blocks",
		.table = {.base = BASE},
		.ended = "cut_no_rows",
	},
	{
		.name = "a table that is not built yet",
		.table = {.blocks = 1, .why = TABLE_PENDING},
		.ended = "cut_pending",
	},
	{
		.name = "a file that describes nothing",
		.table = {.blocks = 1, .why = TABLE_NOTHING},
		.ended = "cut_no_rows",
	},
	{
		.name = "a table's number beyond all",
		.mapping = {.start = EXE, .end = EXE + EXE_BYTES, .bias = EXE, .table = 0xfffffff0},
		.ended = "cut_no_rows",
	},
	{
		.name = "a piece's number beyond all",
		.mapping = {.start = EXE - (1ULL << 40),
                            .end = EXE + EXE_BYTES,
                            .bias = EXE - (1ULL << 40),
                            .table = 1,
                            .pieces = 0xffffffff},
		.ended = "cut_no_rows",
	},
	{
		.name = "a piece beyond those that there are",
		.table = {.blocks = 1, .base = BASE},
		.mapping = {.start = EXE - 5 * PIECE_BYTES,
                            .end = EXE + EXE_BYTES,
                            .bias = EXE - 5 * PIECE_BYTES,
                            .table = 1,
                            .pieces = 4},
		.words = {INDEX(1, 1), OP_ROW},
		.ended = "cut_no_rows",
	},
	{
		.name = "a bias that makes no sense",
		.table = {.blocks = 1, .base = BASE},
		.mapping = {.start = EXE, .end = EXE + EXE_BYTES, .bias = -1ULL, .table = 1},
		.ended = "cut_no_rows",
	},
	{
		.name = "a run of mappings beyond all",
		.slot = (u64)RECORDED_PID << SLOT_PID_SHIFT |
                        (u64)SLOT_FIRST_MAX << SLOT_FIRST_SHIFT | SLOT_COUNT_MAX,
		.ended = "cut_unmapped",
	},
	{
		.name = "an empty run of mappings",
		.slot = (u64)RECORDED_PID << SLOT_PID_SHIFT | 1ULL << SLOT_FIRST_SHIFT,
		.ended = "cut_no_process",
	},
	{
		.name = "another process's slot",
		.slot = (u64)(RECORDED_PID + 1) << SLOT_PID_SHIFT | 1ULL << SLOT_FIRST_SHIFT | 1,
		.ended = "cut_no_process",
	},
	{
		.name = "an operation of no name",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(1, 1), NAMED(0xff)},
		.ended = "cut_unsupported",
	},
	{
		.name = "a rule beyond the chunk",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(1, 1), RULE(OP_VALUE_MASK)},
		.ended = "cut_unsupported",
	},
	{
		.name = "a rule with a register of no number",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(1, 1), RULE(1), 0, 0, 0xff00},
		.ended = "cut_register",
	},
	{
		.name = "a block whose rows are not sorted",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(1, 6), 0xff000000, 0x80000000, 0xff000000, 0, 0xff000000, 0},
		.ended = "cut_bad_frame",
	},
	{
		.name = "a block that ends before its count",
		.table = {.blocks = 1, .base = BASE},
		.words = {INDEX(1, 256), OP_ROW},
		.ended = "cut_bad_frame",
	},
};

/* The return address on the stack is 1, which cannot be one. */
static void walk(const struct hostile *hostile, enum machine machine,
                 struct walker_result *ret_result)
{
	_cleanup_(world_freep) struct world *world = world_new(POOL);
	_cleanup_(memory_freep) struct memory *memory = memory_new();
	struct walker_input input;
	u64 *slot;

	memcpy(world->maps.pool + BASE, hostile->words, sizeof(hostile->words));
	world->maps.tables[1] = hostile->table;
	recorded_mappings(world, 1);
	slot = &world->maps.slots[RECORDED_PID * SLOTS_PER_BUCKET & (world->maps.slot_count - 1)];
	ck_assert_uint_eq(*slot >> SLOT_PID_SHIFT, RECORDED_PID);
	if (hostile->mapping.end)
		world->maps.mappings[*slot >> SLOT_FIRST_SHIFT & SLOT_FIRST_MAX] = hostile->mapping;
	if (hostile->slot)
		*slot = hostile->slot;
	memory_put(memory, STACK, 1);
	input = recorded_input(machine, world, memory, EXE + 0x80, STACK, 8);
	recorded_walk(machine, &input, ret_result);
}

START_TEST(cuts_what_is_impossible)
{
	const struct hostile *hostile = &tables[_i];
	struct walker_result result;

	walk(hostile, MACHINE_X86_64, &result);
	ck_assert_msg(result.len == 1 && strcmp(result.ended, hostile->ended) == 0,
	              "%s: %u frames, %s, not %s", hostile->name, result.len, result.ended,
	              hostile->ended);
	/* On arm64 a leaf's return address is in a register, so one more frame may be found. */
	walk(hostile, MACHINE_ARM64, &result);
	ck_assert_uint_le(result.len, 2);
}
END_TEST

/* The walker writes two fields of a table: `used`, and `missed`, which counts frames that needed
 * the table before it was built. */
START_TEST(counts_use_and_misses)
{
	static const struct frame_row rows[] = {
		{0x1000, 0x1100, CFA_REG(X86_REG_SP, 8), SAME, OUTERMOST, false, false}, {0}};
	_cleanup_(world_freep) struct world *world = recorded_world(MACHINE_X86_64, rows);
	_cleanup_(memory_freep) struct memory *memory = memory_new();
	struct walker_input input =
		recorded_input(MACHINE_X86_64, world, memory, EXE + 0x1010, STACK, 0);
	struct unwind_table *table = &world->maps.tables[1];
	struct walker_result result;

	walker_x86(&input, &result);
	ck_assert_str_eq(result.ended, "walk_complete");
	ck_assert_uint_ne(table->used, 0);
	ck_assert_uint_eq(table->missed, 0);
	table->base = 0;
	table->why = TABLE_PENDING;
	walker_x86(&input, &result);
	walker_x86(&input, &result);
	ck_assert_str_eq(result.ended, "cut_pending");
	ck_assert_uint_eq(table->missed, 2);
}
END_TEST

START_TEST(takes_a_parent_that_is_alike)
{
	static const struct frame_row rows[] = {
		{0x1000, 0x1100, CFA_REG(X86_REG_SP, 8), SAME, OUTERMOST, false, false}, {0}};
	_cleanup_(world_freep) struct world *world = recorded_world(MACHINE_X86_64, rows);
	_cleanup_(memory_freep) struct memory *memory = memory_new();
	struct walker_input input =
		recorded_input(MACHINE_X86_64, world, memory, EXE + 0x1010, STACK, 8);
	struct walker_result result;

	input.pid = RECORDED_PID + 1;
	walker_x86(&input, &result);
	ck_assert_str_eq(result.ended, "cut_no_process");
	input.parent_pid = RECORDED_PID;
	walker_x86(&input, &result);
	ck_assert_str_eq(result.ended, "walk_complete");
}
END_TEST

/* Each mapping of a run is found, and nothing is found between two mappings. */
START_TEST(finds_each_of_many_mappings)
{
	enum { COUNT = 77 };
	static const struct frame_row rows[] = {
		{0, EXE_BYTES, CFA_REG(X86_REG_SP, 8), SAME, OUTERMOST, false, false}, {0}};
	_cleanup_(world_freep) struct world *world = recorded_world(MACHINE_X86_64, rows);
	_cleanup_(memory_freep) struct memory *memory = memory_new();
	struct unwind_mapping mappings[COUNT];
	struct walker_result result;

	for (u64 i = 0; i < COUNT; i++)
		mappings[i] = (struct unwind_mapping){
			.start = EXE + i * 2 * EXE_BYTES,
			.end = EXE + (i * 2 + 1) * EXE_BYTES,
			.bias = EXE + i * 2 * EXE_BYTES,
			.table = 1,
		};
	ck_assert_int_eq(world_set_mappings(world, RECORDED_PID, mappings, COUNT), 0);
	for (u64 i = 0; i < (u64)COUNT * 2; i++) {
		u64 pc = EXE + i * EXE_BYTES;
		struct walker_input input =
			recorded_input(MACHINE_X86_64, world, memory, pc, STACK, 8);

		walker_x86(&input, &result);
		ck_assert_str_eq(result.ended, i % 2 ? "cut_unmapped" : "walk_complete");
		input.pc = pc + EXE_BYTES - 1;
		walker_x86(&input, &result);
		ck_assert_str_eq(result.ended, i % 2 ? "cut_unmapped" : "walk_complete");
	}
}
END_TEST

Suite *hostile_suite(void)
{
	Suite *suite = suite_create("hostile");
	TCase *tests = tcase_create("tables");

	tcase_add_loop_test(tests, cuts_what_is_impossible, 0, sizeof(tables) / sizeof(tables[0]));
	tcase_add_test(tests, counts_use_and_misses);
	tcase_add_test(tests, takes_a_parent_that_is_alike);
	tcase_add_test(tests, finds_each_of_many_mappings);
	suite_add_tcase(suite, tests);
	return suite;
}
