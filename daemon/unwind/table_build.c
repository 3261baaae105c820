/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builds a file's table from its call frame information. Where that is wanted, code without such
 * information is followed, and rows are added that can be proven from the instructions.
 */
#include "unwind/table.h"

#include "cfi/ehframe.h"
#include "unwind/pieces.h"

#include <elf.h>
#include <errno.h>

enum {
	FIRST_RANGES = 256,
	/* A file with up to this much text is followed as a whole, because a function may be called
	 * from any of its pieces. In a larger file, only functions that the piece itself calls are
	 * found. */
	FOLLOWED_WHOLE_BYTES = 64 << 20,
};

struct gathering {
	struct table_builder *builder;
	struct range part;         /* the range that is read */
	struct range wanted;       /* the range that rows are kept for; within `part` */
	struct followed *followed; /* NULL: followed rows are not kept for other parts */
	struct range *described;
	size_t count, capacity;
	struct frame_row held; /* the last row, not added yet; empty when there is none */
};

static int builder_for(const struct elf *elf, struct table_builder **ret_builder)
{
	enum machine machine;

	switch (elf_machine(elf)) {
	case EM_X86_64:
		machine = MACHINE_X86_64;
		break;
	case EM_AARCH64:
		machine = MACHINE_ARM64;
		break;
	default:
		return -ENODATA;
	}
	*ret_builder = table_builder_new(machine);
	return *ret_builder ? 0 : -ENOMEM;
}

static int add_range(struct gathering *gathering, uint64_t start, uint64_t end)
{
	struct range *last = gathering->described + gathering->count;

	if (start >= end)
		return 0;
	if (gathering->count && start - last[-1].end < TABLE_PADDING) {
		last[-1].end = end;
		return 0;
	}
	if (gathering->count == gathering->capacity) {
		size_t capacity = gathering->capacity ? gathering->capacity * 2 : FIRST_RANGES;
		struct range *ranges = realloc(gathering->described, capacity * sizeof(*ranges));

		if (!ranges)
			return -ENOMEM;
		gathering->described = ranges;
		gathering->capacity = capacity;
	}
	gathering->described[gathering->count++] = (struct range){start, end};
	return 0;
}

/* Whether the row describes a function that was just called. */
static bool is_entry(const struct frame_row *row)
{
	return row->cfa.kind == CFA_REGISTER && row->cfa.reg == X86_REG_SP &&
	       row->cfa.offset == sizeof(uint64_t) && row->ra.kind == SAVE_AT_CFA &&
	       row->fp.kind == SAVE_SAME && !row->signal_frame;
}

static bool is_wanted(const struct gathering *gathering, const struct frame_row *row)
{
	return row->end >= gathering->wanted.start && row->start <= gathering->wanted.end;
}

/*
 * A return address that points at a function's first byte was not pushed by a call. A program made
 * it up to have that function run after another one, as makecontext() does, and there is nothing
 * before such a frame. A caller is looked up by the byte before its return address, so a row for
 * the byte before the function says that the stack ends there. Only a function that makes no frame
 * can be entered by a return, and such a function has one row. If another function ends just
 * before, its row was added first and applies.
 */
static int add_held(struct gathering *gathering, uint64_t next)
{
	const struct frame_row *held = &gathering->held;
	struct frame_row end = *held;
	int err = 0;

	if (held->start == held->end || !is_wanted(gathering, held))
		return 0;
	if (next > held->end && held->start && is_entry(held)) {
		end.start = held->start - 1;
		end.end = held->start;
		end.ra.kind = SAVE_UNDEFINED;
		err = table_add(gathering->builder, &end);
	}
	return err ? err : table_add(gathering->builder, held);
}

static int add_described(const struct frame_row *row, void *ctx)
{
	struct gathering *gathering = ctx;
	const struct range *part = &gathering->part;
	int err = add_held(gathering, row->start);

	gathering->held = *row;
	if (err)
		return err;
	/* Rows around the part are added too, because walks at its ends need them. What lies
	 * outside the part is not followed; gather() marks it as described. */
	return add_range(gathering, row->start > part->start ? row->start : part->start,
	                 row->end < part->end ? row->end : part->end);
}

static int add_followed(const struct frame_row *row, void *ctx)
{
	struct gathering *gathering = ctx;

	if (gathering->followed)
		followed_add(gathering->followed, row);
	return is_wanted(gathering, row) ? table_add(gathering->builder, row) : 0;
}

static int gather(const struct elf *elf, struct gathering *gathering)
{
	const struct range *part = &gathering->part;
	int err = add_range(gathering, 0, part->start);

	if (!err)
		err = ehframe_each_row_of(elf, part->start, part->end, add_described, gathering);
	/* Without usable call frame information, rows can only come from following the code. */
	if (err && err != -ENODATA && err != -EBADMSG)
		return err;
	err = add_held(gathering, UINT64_MAX);
	return err ? err : add_range(gathering, part->end, UINT64_MAX);
}

static int gather_followed(const struct elf *elf, struct followed *followed, struct range text,
                           struct gathering *gathering)
{
	bool whole = text.end - text.start <= FOLLOWED_WHOLE_BYTES;

	if (whole && !followed->complete) {
		gathering->part = (struct range){0, UINT64_MAX};
		gathering->followed = followed;
		followed->count = 0;
	}
	int err = gather(elf, gathering);
	for (size_t i = 0; !err && followed->complete && i < followed->count; i++)
		err = add_followed(&followed->rows[i], gathering);
	if (err || followed->complete)
		return err;
	err = follow_gaps(elf, gathering->described, gathering->count, add_followed, gathering);
	followed->complete = !err && whole && !followed->given_up;
	return err;
}

int table_build_part(const struct elf *elf, struct followed *followed, struct range part,
                     size_t max_words, struct table **ret_table)
{
	_cleanup_(table_builder_freep) struct table_builder *builder = NULL;
	struct gathering gathering = {.part = part, .wanted = part};
	struct range text;
	int err = text_of_elf(elf, &text);

	if (!err)
		err = builder_for(elf, &builder);
	if (err)
		return err;
	gathering.builder = builder;
	err = followed ? gather_followed(elf, followed, text, &gathering) : gather(elf, &gathering);
	free(gathering.described);
	text.start = part.start > text.start ? part.start : text.start;
	text.end = part.end < text.end ? part.end : text.end;
	return err ? err : table_seal(builder, text.start, text.end, max_words, ret_table);
}

int table_build(const struct elf *elf, bool follow, size_t max_words, struct table **ret_table)
{
	_cleanup_(followed_end) struct followed followed = {0};

	return table_build_part(elf, follow ? &followed : NULL, (struct range){0, UINT64_MAX},
	                        max_words, ret_table);
}
