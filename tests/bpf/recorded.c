/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builds tables with the daemon's own code, so that a recorded stack also tests that the daemon and
 * the kernel half agree about what a row means.
 */
#include "tests/bpf/recorded.h"

#include <check.h>
#include <string.h>

enum { POOL_WORDS = 1 << 16 };

static const struct {
	u32 sp, fp, pc;
} numbers[] = {
	[MACHINE_X86_64] = {X86_REG_SP, X86_REG_FP, X86_REG_PC},
	[MACHINE_ARM64] = {ARM64_REG_SP, ARM64_REG_FP, ARM64_REG_PC},
};

void recorded_mappings(struct world *world, u32 table)
{
	const struct unwind_mapping mappings[] = {
		{.start = EXE, .end = EXE + EXE_BYTES, .bias = EXE, .table = table},
		{.start = BARE, .end = BARE + 0x1000},
	};

	ck_assert_int_eq(world_set_mappings(world, RECORDED_PID, mappings, 2), 0);
}

struct world *recorded_world(enum machine machine, const struct frame_row *rows)
{
	_cleanup_(table_builder_freep) struct table_builder *builder = table_builder_new(machine);
	_cleanup_(table_freep) struct table *table = NULL;
	struct world *world = world_new(POOL_WORDS);
	u32 number;

	ck_assert_ptr_nonnull(builder);
	ck_assert_ptr_nonnull(world);
	for (size_t i = 0; rows[i].end; i++)
		ck_assert_int_eq(table_add(builder, &rows[i]), 0);
	ck_assert_int_eq(table_seal(builder, 0, EXE_BYTES, world_room(world), &table), 0);
	number = world_add_table(world, table);
	ck_assert_uint_ne(number, 0);
	recorded_mappings(world, number);
	return world;
}

struct walker_input recorded_input(enum machine machine, const struct world *world,
                                   struct memory *memory, u64 pc, u64 sp, u64 fp)
{
	struct walker_input input = {
		.maps = &world->maps,
		.pid = RECORDED_PID,
		.pc = pc,
		.read = memory_read,
		.ctx = memory,
	};

	/* Registers that a test does not set hold values that a walk must not use. */
	for (u32 i = 0; i < MAX_REGS; i++)
		input.registers[i] = 0x1111111111111111ULL * (i & 7);
	input.registers[numbers[machine].sp] = sp;
	input.registers[numbers[machine].fp] = fp;
	input.registers[numbers[machine].pc] = pc;
	return input;
}

void recorded_walk(enum machine machine, const struct walker_input *input,
                   struct walker_result *ret_result)
{
	if (machine == MACHINE_X86_64)
		walker_x86(input, ret_result);
	else
		walker_arm64(input, ret_result);
}

void recorded_check(enum machine machine, const struct recorded *recorded)
{
	_cleanup_(world_freep) struct world *world = recorded_world(machine, recorded->rows);
	_cleanup_(memory_freep) struct memory *memory = memory_new();
	struct walker_result result;
	struct walker_input input;
	size_t i;

	ck_assert_ptr_nonnull(memory);
	for (i = 0; recorded->words[i].address; i++)
		ck_assert_int_eq(
			memory_put(memory, recorded->words[i].address, recorded->words[i].value),
			0);
	input = recorded_input(machine, world, memory, recorded->pc, recorded->sp, recorded->fp);
	for (i = 0; recorded->registers[i].value; i++)
		input.registers[recorded->registers[i].number] = recorded->registers[i].value;
	input.trampoline = TRAMPOLINE;
	input.returns = recorded->returns;
	while (recorded->returns[input.return_count].stack)
		input.return_count++;
	recorded_walk(machine, &input, &result);
	for (i = 0; recorded->frames[i]; i++)
		ck_assert_msg(i < result.len && result.frames[i] == recorded->frames[i],
		              "%s: frame %zu is %llx, not %llx; %u frames, %s", recorded->name, i,
		              i < result.len ? (unsigned long long)result.frames[i] : 0,
		              (unsigned long long)recorded->frames[i], result.len, result.ended);
	ck_assert_msg(result.len == i && result.outcome == recorded->outcome,
	              "%s: %u frames and %s, not %zu frames and outcome %u", recorded->name,
	              result.len, result.ended, i, recorded->outcome);
}
