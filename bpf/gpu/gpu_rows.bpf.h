/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts each call in the slot of its row. A call is counted in the row itself if the thread does
 * not remember the slot, or if the call is due to be walked. The rows of a thread are its own, so
 * nothing here is atomic.
 */
#pragma once

#include "bpf/gpu/gpu_slots.bpf.h"
#include "bpf/gpu/gpu_walk.bpf.h"

/* When a call is counted, and in which half, from shared_enter(). */
struct gpu_moment {
	u64 now; /* 0 until it is needed */
	u64 value;
	u32 at;
};

/* Each look-up names its half's map, because only then is it done without a detour. */
static __always_inline struct gpu_call *row_find(u32 at, const struct gpu_call_key *key)
{
	struct gpu_call *row;

	if (at & 1) {
		row = bpf_map_lookup_elem(&gpu_calls_1, key);
		barrier_var(row);
		return row;
	}
	return bpf_map_lookup_elem(&gpu_calls_0, key);
}

/* Rows of the half that are taken; the mask is as in slot_at(). */
static __always_inline struct taken *rows_of_half(u32 at)
{
	barrier_var(at);
	return &gpu_rows[at & 1];
}

/* Whether the half is crowded for the account, as with many launches of ever new grids. Once an
 * account has three quarters of its share of the rows, launches that differ in grid or block are no
 * longer told apart, unless the thread remembers a row. */
static __always_inline int is_crowded(u32 at)
{
	return taken_place(rows_of_half(at), GPU_CALLS_ROWS / 4 * 3, 0) == NO_ROOM;
}

/* NULL when there is no room, or the account's share is used up. A function of its own, so that a
 * walk need not have room for its variables on the stack: all functions together have 512 bytes. */
static __noinline struct gpu_call *row_make(u32 at, const struct gpu_call_key *key)
{
	struct gpu_call first = {
		.stack = key->stack,
		.pid = bpf_get_current_pid_tgid() >> 32,
		.user = (u32)bpf_get_current_uid_gid(),
	};
	void *map = at & 1 ? (void *)&gpu_calls_1 : (void *)&gpu_calls_0;
	u32 place = taken_place(rows_of_half(at), GPU_CALLS_ROWS, 0);

	if (place == NO_ROOM) {
		GPU_ADD(rows_over_share);
		return NULL;
	}
	bpf_get_current_comm(first.thread, sizeof(first.thread));
	if (bpf_map_update_elem(map, key, &first, BPF_NOEXIST))
		return NULL;
	taken_count(rows_of_half(at), place);
	return row_find(at, key);
}

/* Moves what has been counted so far to the row of its stack. Returns non-zero when there is no
 * room. */
static __always_inline long row_move(u32 at, struct gpu_call_key *key, struct gpu_call *row)
{
	struct gpu_call *to;

	key->stack = row->stack;
	to = row_find(at, key);
	if (!to)
		to = row_make(at, key);
	key->stack = STACK_NONE;
	if (!to)
		return -1;
	to->count += row->count;
	to->value += row->value;
	to->last_ns = row->last_ns;
	to->block_z = row->block_z;
	row->count = 0;
	row->value = 0;
	return 0;
}

static __always_inline void row_add(struct gpu_call *row, const struct gpu_moment *moment)
{
	row->count++;
	row->value += moment->value;
}

/* The counters of a kind that has rows. */
static __always_inline enum counter gpu_counter(u16 kind, int is_lost)
{
	if (kind == KIND_gpu_launch)
		return is_lost ? COUNTER_gpu_launches_lost : COUNTER_gpu_launches;
	if (kind == KIND_gpu_copy)
		return is_lost ? COUNTER_gpu_copies_lost : COUNTER_gpu_copies;
	return is_lost ? COUNTER_gpu_waits_lost : COUNTER_gpu_waits;
}

/* The id of the caller's stack, in the half of its row; STACK_NONE when it is not available now,
 * STACK_LOST when there is no room for it, or it cannot be read. */
static __always_inline u64 caller_stack(const struct gpu_moment *moment,
                                        const struct gpu_place *place)
{
	u32 lane = lane_enter(LANE_PROBE, moment->now);
	u64 pc, id = STACK_LOST;

	if (lane == LANE_BUSY) {
		GPU_ADD(stacks_busy);
		return STACK_NONE;
	}
	/* A flip may have been planned since, for a time that had come by then. */
	if ((lane ^ moment->at) & 1) {
		lane_leave(lane);
		return STACK_NONE;
	}
	pc = caller_registers(lane, place);
	if (pc) {
		id = stack_store(lane, unwind_stack(lane, pc));
		GPU_ADD(walked);
		if (id == STACK_LOST)
			count(lane, COUNTER_stacks_lost, 1);
	} else {
		GPU_ADD(unreadable);
	}
	lane_leave(lane);
	return id;
}

/* Reads what read_shape() leaves out. */
static __always_inline void read_block_z(struct gpu_call *row, const struct gpu_call_key *key,
                                         const struct gpu_place *place)
{
	if (key->kind == KIND_gpu_launch && key->block[0] && !key->block[2])
		row->block_z = read_u32(argument_on_stack(place->frame, REGISTER_ARGUMENTS));
}

/* Counts a call that has no row yet, or that is to be walked. */
static __noinline void count_slowly(struct gpu_thread *thread, struct gpu_call_key *key,
                                    struct gpu_moment *moment, const struct gpu_place *place)
{
	struct gpu_call *row = row_find(moment->at, key);
	int is_walked = thread != NULL;
	u64 stack = STACK_NONE;

	moment->now = bpf_ktime_get_ns();
	if (!row) {
		row = row_make(moment->at, key);
		if (!row) {
			GPU_ADD(rows_lost);
			count_shared(moment->at, gpu_counter(key->kind, 1));
			return;
		}
		read_block_z(row, key, place);
		if (thread) {
			row->slot = slot_take(moment->at, is_crowded(moment->at));
			is_walked = is_fresh_walked(thread, moment->now);
			row->due = thread->pace.step;
		}
	}
	row->last_ns = moment->now;
	if (is_walked)
		stack = caller_stack(moment, place);
	if (stack >= STACK_FIRST && (row->stack == STACK_NONE || stack == row->stack ||
	                             row_move(moment->at, key, row) == 0))
		row->stack = stack;
	/* Also where the stack is lost; else all of the calls would be walked and their stacks
	 * lost, too. */
	if (stack != STACK_NONE && thread)
		row->due = calls_to_next(thread, moment->now);
	row_add(row, moment);
	count_shared(moment->at, gpu_counter(key->kind, 0));
}

/* Counts a call whose row the thread does not remember, or that is to be walked. */
static __always_inline void count_in_row(struct gpu_thread *thread, struct gpu_call_key *key,
                                         struct gpu_moment *moment, const struct gpu_place *place)
{
	int crowded = is_crowded(moment->at);
	struct gpu_call *row;

	if (crowded && thread && slot_add(moment->at, thread, key, SHAPELESS, moment->value)) {
		count_shared(moment->at, gpu_counter(key->kind, 0));
		return;
	}
	row = row_find(moment->at, key);
	if (!row && crowded) {
		__builtin_memset(key->grid, 0, sizeof(key->grid) + sizeof(key->block));
		row = row_find(moment->at, key);
	}
	if (row)
		slot_return(moment->at, row);
	if (row && row->due) {
		row->due--;
		row_add(row, moment);
		count_shared(moment->at, gpu_counter(key->kind, 0));
		if (thread)
			slot_lend(moment->at, thread, key, row);
	} else {
		count_slowly(thread, key, moment, place);
	}
}

/* Counts a call; `thread` is NULL where nothing is known of it. */
static __always_inline void count_call(struct gpu_thread *thread, struct gpu_call_key *key,
                                       u64 value, const struct gpu_place *place)
{
	struct gpu_moment moment = {.value = value};

	moment.at = thread ? shared_enter_again(&thread->flip) : shared_enter(&moment.now);
	if (thread && slot_add(moment.at, thread, key, SHAPED, value))
		count_shared(moment.at, gpu_counter(key->kind, 0));
	else
		count_in_row(thread, key, &moment, place);
	shared_leave();
}
