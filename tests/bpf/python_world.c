/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames are numbered from the leaf. A shim or a cframe is 64 bytes above the lower end of its
 * loop's frame.
 */
#include "tests/bpf/python_world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOP_BYTES = 256, OTHER_BYTES = 64, IN_LOOP = 64, KIND_SHIFT = 2, ASCII_SHIFT = 5 };

/* `kind` has 3 bits above two others; `ascii` is the bit above `compact`. */
#define TEXT_STATE(kind, ascii) ((u64)(kind) << KIND_SHIFT | (u64)(ascii) << ASCII_SHIFT)

static const struct frame_row rows[] = {
	{0x1000, 0x1100, CFA_REG(X86_REG_SP, LOOP_BYTES), SAME, AT_CFA(-8), false, false},
	{0x2000, 0x2100, CFA_REG(X86_REG_SP, OTHER_BYTES), SAME, AT_CFA(-8), false, false},
	{0x3000, 0x3100, CFA_REG(X86_REG_SP, 8), SAME, OUTERMOST, false, false},
	{0},
};

static const struct python_process layout = {
	.interpreters = PY_INTERPRETERS,
	.version = 0x030c,
	.last_unit = 2,
	.kind_shift = KIND_SHIFT,
	.ascii_shift = ASCII_SHIFT,
	.interpreter_next = AT_INTERPRETER_NEXT,
	.interpreter_threads = AT_INTERPRETER_THREADS,
	.interpreter_gil = AT_INTERPRETER_GIL,
	.thread_next = AT_THREAD_NEXT,
	.thread_id = AT_THREAD_ID,
	.thread_frame = AT_THREAD_FRAME,
	.thread_top_frame = AT_THREAD_TOP,
	.cframe_current = AT_CFRAME_CURRENT,
	.frame_previous = AT_FRAME_PREVIOUS,
	.frame_code = AT_FRAME_CODE,
	.frame_instruction = AT_FRAME_INSTRUCTION,
	.frame_owner = AT_FRAME_OWNER,
	.frame_entry = AT_FRAME_ENTRY,
	.code_filename = AT_CODE_FILE,
	.code_name = AT_CODE_NAME,
	.code_first_line = AT_CODE_FIRST_LINE,
	.code_lines = AT_CODE_LINES,
	.code_bytecode = AT_CODE_BYTECODE,
	.text_length = 0,
	.text_state = 8,
	.text_ascii = 16,
	.text_compact = 24,
	.bytes_length = 0,
	.bytes_data = 8,
	.gil_holder = 0,
	.gil_locked = 8,
};

void python_put(struct python_world *world, u64 address, u64 word)
{
	ck_assert_int_eq(memory_put(world->memory, address, word), 0);
}

static u64 address_of(char native)
{
	return EXE + (native == 'e' ? 0x1000 : native == 'c' ? 0x2000 : 0x3000) + 0x20;
}

static void put_native(struct python_world *world, const char *native)
{
	u64 sp = STACK;
	size_t loops = 0;

	world->pc = address_of(native[0]);
	for (size_t i = 0; native[i] && native[i] != 'r'; i++) {
		if (native[i] == 'e') {
			ck_assert_uint_lt(loops, PY_MAX_LOOPS);
			world->entries[loops++] = sp + IN_LOOP;
		}
		sp += native[i] == 'e' ? LOOP_BYTES : OTHER_BYTES;
		python_put(world, sp - 8, address_of(native[i + 1]));
	}
}

static void put_codes(struct python_world *world)
{
	for (char letter = 'a'; letter <= 'z'; letter++) {
		u64 code = PY_CODE(letter), name = PY_NAME(letter);

		python_put(world, code + AT_CODE_FILE, PY_FILE);
		python_put(world, code + AT_CODE_NAME, name);
		python_put(world, code + AT_CODE_FIRST_LINE, (u64)letter);
		python_put(world, code + AT_CODE_LINES, PY_LINES);
		python_put(world, name, 1);
		python_put(world, name + 8, TEXT_STATE(1, 1));
		python_put(world, name + 16, (u64)letter);
	}
	python_put(world, PY_FILE, 5);
	python_put(world, PY_FILE + 8, TEXT_STATE(1, 1));
	python_put(world, PY_FILE + 16, 0x79702e782fULL); /* "/x.py" */
	python_put(world, PY_LINES, 4);
	python_put(world, PY_LINES + 8, 0x04030201);
}

static void put_frame(struct python_world *world, const struct python_plan *plan, u64 at,
                      char letter, bool last)
{
	u64 index = (u64)letter - 'a' + 1, code = PY_CODE(letter);
	bool by_address = plan->entry >= PYTHON_ENTRY_RUN;
	u64 frame = PY_FRAME(at);

	python_put(world, frame + AT_FRAME_CODE, code);
	python_put(world, frame + AT_FRAME_INSTRUCTION,
	           by_address ? code + AT_CODE_BYTECODE + index * 2 : index);
	python_put(world, frame + AT_FRAME_OWNER,
	           last && plan->entry == PYTHON_ENTRY_RUN ? 256 : 0);
}

/* Each frame leads to the next one; `entry` says how a run ends. */
static u64 put_frames(struct python_world *world, const struct python_plan *plan)
{
	u64 first = 0, before = 0, at = 0;

	for (size_t run = 0; plan->runs[run]; run++) {
		const char *letters = plan->runs[run];

		for (size_t i = 0; i <= strlen(letters); i++) {
			u64 frame = PY_FRAME(at);

			if (!letters[i] && plan->entry != PYTHON_ENTRY_SHIM)
				break;
			if (!letters[i]) {
				frame = world->entries[run];
				python_put(world, frame + AT_FRAME_OWNER, PYTHON_OWNER_SHIM);
			} else {
				put_frame(world, plan, at++, letters[i], !letters[i + 1]);
			}
			if (before)
				python_put(world, before + AT_FRAME_PREVIOUS, frame);
			first = first ? first : frame;
			before = frame;
		}
	}
	return first;
}

static void put_cframes(struct python_world *world, const struct python_plan *plan, u64 current)
{
	u64 offset = plan->cframes ? 64 : 0, root = PY_THREAD + 0x100;

	python_put(world, PY_THREAD + AT_THREAD_FRAME, world->entries[0] + offset);
	for (size_t i = 0; world->entries[i]; i++) {
		u64 next = world->entries[i + 1] ? world->entries[i + 1] + offset : root;

		python_put(world, world->entries[i] + offset + AT_CFRAME_CURRENT, current);
		python_put(world, world->entries[i] + offset + AT_CFRAME_PREVIOUS, next);
	}
	python_put(world, root, 0);
}

static void put_thread(struct python_world *world, const struct python_plan *plan)
{
	u64 first = put_frames(world, plan);

	python_put(world, PY_INTERPRETERS, PY_INTERPRETER);
	python_put(world, PY_INTERPRETER + AT_INTERPRETER_THREADS, PY_THREAD);
	python_put(world, PY_INTERPRETER + AT_INTERPRETER_GIL, PY_GIL);
	python_put(world, PY_GIL, PY_THREAD);
	python_put(world, PY_GIL + 8, 1);
	python_put(world, PY_THREAD + AT_THREAD_ID, PY_POINTER);
	python_put(world, PY_THREAD + AT_THREAD_FRAME, first);
	python_put(world, PY_THREAD + AT_THREAD_TOP, first);
	if (plan->cframes || plan->entry == PYTHON_ENTRY_EACH || plan->entry == PYTHON_ENTRY_RUN) {
		world->python.process.cframe_previous = AT_CFRAME_PREVIOUS;
		put_cframes(world, plan, first);
	}
}

static void note_thread(struct python_world *world, const void *bytes)
{
	memcpy(&world->thread, bytes, sizeof(world->thread));
	ck_assert_uint_eq(world->thread.word & WORD_KIND, WORD_THREAD);
	world->thread_count++;
}

static int note_told(const void *bytes, size_t len, void *ctx)
{
	struct python_world *world = ctx;
	struct python_told *told = &world->told[world->told_count];

	if (world->ring_full)
		return -1;
	if (len == sizeof(world->thread)) {
		note_thread(world, bytes);
		return 0;
	}
	ck_assert_uint_lt(world->told_count, PY_MAX_TOLD);
	ck_assert_uint_ge(len, sizeof(told->code));
	memcpy(&told->code, bytes, sizeof(told->code));
	told->len = len - sizeof(told->code);
	memcpy(told->texts, (const char *)bytes + sizeof(told->code),
	       told->len < PY_TOLD_BYTES ? told->len : PY_TOLD_BYTES);
	world->told_count++;
	return 0;
}

struct python_world *python_world_new(const struct python_plan *plan)
{
	struct python_world *world = calloc(1, sizeof(*world));

	ck_assert_ptr_nonnull(world);
	world->world = recorded_world(MACHINE_X86_64, rows);
	world->memory = memory_new();
	ck_assert_ptr_nonnull(world->memory);
	world->python.process = layout;
	world->python.process.entry = plan->entry;
	world->python.process.loops[1][0] = EXE + 0x1000;
	world->python.process.loops[1][1] = EXE + 0x1100;
	world->python.thread_pointer = PY_POINTER;
	world->python.told = note_told;
	world->python.ctx = world;
	put_native(world, plan->native);
	put_codes(world);
	put_thread(world, plan);
	return world;
}

void python_world_free(struct python_world *world)
{
	if (!world)
		return;
	world_free(world->world);
	memory_free(world->memory);
	free(world);
}

static const struct python_told *find_told(const struct python_world *world, u64 signature)
{
	for (size_t i = world->told_count; i-- > 0;)
		if (world->told[i].code.signature == signature)
			return &world->told[i];
	return NULL;
}

static char native_letter(u64 address)
{
	static const char letters[] = "?ecr";
	u64 own = (address - EXE) >> 12;

	return own < sizeof(letters) - 1 ? letters[own] : '?';
}

const char *python_walk_text(struct python_world *world)
{
	static char text[WALKER_MAX_WORDS * 8];
	struct walker_input input =
		recorded_input(MACHINE_X86_64, world->world, world->memory, world->pc, STACK, 0);
	const struct walker_result *result = &world->result;
	size_t len = 0;

	input.python = &world->python;
	walker_x86(&input, &world->result);
	text[0] = 0;
	for (u32 i = 0; i < result->len; i++) {
		u64 word = result->frames[i];
		const struct python_told *told = NULL;

		if ((word & WORD_KIND) == WORD_PYTHON)
			told = find_told(world, word & WORD_VALUE);
		len += (size_t)sprintf(text + len, "%s", i ? " " : "");
		if ((word & WORD_KIND) == WORD_LOOP)
			len += (size_t)sprintf(text + len, "L");
		else if ((word & WORD_KIND) != WORD_PYTHON)
			len += (size_t)sprintf(text + len, "%c", native_letter(word));
		else
			len += (size_t)sprintf(text + len, "%.*s+%u",
			                       told ? told->code.name_bytes : 1,
			                       told ? told->texts : "?",
			                       (unsigned)(result->frames[++i] & WORD_VALUE));
	}
	return text;
}
