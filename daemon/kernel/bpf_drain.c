/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Empties the maps of the kernel half with batch operations.
 */
#include "kernel/bpf.h"

#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Empties a hash map into the arrays, which have room for all its entries. */
static int drain_map(int fd, u32 size, void *keys, size_t key_bytes, void *values,
                     size_t value_bytes, size_t *ret_count)
{
	u64 cursor = 0;
	size_t count = 0;
	bool first = true;
	int err = 0;

	while (!err && count < size) {
		u32 batch = size - (u32)count;

		err = bpf_map_lookup_and_delete_batch(
			fd, first ? NULL : &cursor, &cursor, (char *)keys + count * key_bytes,
			(char *)values + count * value_bytes, &batch, NULL);
		if (!err || err == -ENOENT)
			count += batch;
		first = false;
	}
	*ret_count = count;
	return err == -ENOENT ? 0 : err;
}

/* Adds what one lane counted on every CPU, and resets its counters. */
static int drain_lane(struct bpf *bpf, u32 at, struct counters *sum)
{
	int fd = bpf_map__fd(bpf->skeleton->maps.counters);
	struct counters before = *sum;
	int err = bpf_map_lookup_elem(fd, &at, bpf->per_cpu);

	if (err)
		return err;
	for (u32 cpu = 0; cpu < bpf->cpu_count; cpu++) {
		for (int i = 0; i < COUNTER_COUNT; i++)
			sum->values[i] += bpf->per_cpu[cpu].values[i];
		sum->taking_ns += bpf->per_cpu[cpu].taking_ns;
	}
	if (!memcmp(sum, &before, sizeof(before)))
		return 0;
	memset(bpf->per_cpu, 0, bpf->cpu_count * sizeof(*bpf->per_cpu));
	err = bpf_map_update_elem(fd, &at, bpf->per_cpu, BPF_ANY);
	if (err)
		*sum = before;
	return err;
}

static int drain_counters(struct bpf *bpf, u32 half, struct counters *ret_sum)
{
	u64 lane_busy = __atomic_load_n(&bpf->skeleton->bss->lane_busy, __ATOMIC_RELAXED);
	int first_err = 0;

	*ret_sum = (struct counters){0};
	for (u32 lane = 0; lane < AT_COUNT >> LANE_SHIFT; lane++) {
		int err = drain_lane(bpf, lane << LANE_SHIFT | half, ret_sum);

		if (!first_err)
			first_err = err;
	}
	ret_sum->values[COUNTER_lane_busy] = lane_busy - bpf->lane_busy;
	bpf->lane_busy = lane_busy;
	return first_err;
}

enum { FIRST_GPU_ROWS = 1024 };

static int grow_gpu_rows(struct bpf *bpf, size_t room)
{
	struct gpu_call_key *keys = realloc(bpf->gpu_keys, room * sizeof(*keys));
	struct gpu_call *calls;

	if (!keys)
		return -ENOMEM;
	bpf->gpu_keys = keys;
	calls = realloc(bpf->gpu_calls, room * sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	bpf->gpu_calls = calls;
	bpf->gpu_room = room;
	return 0;
}

/* The room that was taken is free again. */
static void give_back(struct taken *taken)
{
	*taken = (struct taken){0};
}

/* Adds what was counted in the slots of rows. Completes blocks whose last number was not an
 * argument in a register (struct gpu_call_key). */
static void complete_gpu_rows(struct bpf *bpf, u32 half, size_t count)
{
	const struct gpu_slot *slots = bpf->skeleton->bss->gpu_slots[half];

	for (size_t i = 0; i < count; i++) {
		struct gpu_call *call = &bpf->gpu_calls[i];

		if (call->slot && call->slot < GPU_SLOTS) {
			call->count += slots[call->slot].count;
			call->value += slots[call->slot].value;
		}
		if (!bpf->gpu_keys[i].block[2])
			bpf->gpu_keys[i].block[2] = call->block_z;
	}
}

/* Drains the rows of GPU calls. Mostly there are none. */
static int drain_gpu(struct bpf *bpf, u32 half, struct drained *drained)
{
	const struct profd_bpf *skeleton = bpf_part(bpf, BPF_PART_GPU);
	size_t rows = skeleton ? skeleton->bss->gpu_rows[half].all : 0, room = FIRST_GPU_ROWS;
	int fd, err = 0;

	if (!rows)
		return 0;
	fd = bpf_map__fd(half ? skeleton->maps.gpu_calls_1 : skeleton->maps.gpu_calls_0);
	while (room < rows)
		room *= 2;
	if (room > bpf->gpu_room)
		err = grow_gpu_rows(bpf, room);
	if (!err)
		err = drain_map(fd, (u32)bpf->gpu_room, bpf->gpu_keys, sizeof(*bpf->gpu_keys),
		                bpf->gpu_calls, sizeof(*bpf->gpu_calls), &drained->gpu_count);
	/* Rows that could not be read remain for the next drain, and their slots remain taken. */
	skeleton->bss->gpu_rows[half].all -= (u32)drained->gpu_count;
	if (!err) {
		give_back(&skeleton->bss->gpu_rows[half]);
		give_back(&skeleton->bss->gpu_slots_taken[half]);
	}
	complete_gpu_rows(bpf, half, drained->gpu_count);
	drained->gpu_keys = bpf->gpu_keys;
	drained->gpu_calls = bpf->gpu_calls;
	return err;
}

/* Whether a counter counts something other than samples. These are all such counters. */
static bool is_without_sample(enum counter counter)
{
	return counter == COUNTER_ticks || counter == COUNTER_ticks_missed ||
	       counter == COUNTER_idle || counter == COUNTER_lane_busy;
}

/* Every program that adds an entry to the maps, or cannot add one, counts that. So the maps are
 * empty if no such counter has changed. This saves a walk through empty maps, which takes time in
 * proportion to their size. */
static bool is_empty(const struct bpf *bpf, u32 half, const struct counters *sum)
{
	if (bpf->left[half] || bpf->skeleton->bss->gpu_rows[half].all)
		return false;
	for (int i = 0; i < COUNTER_COUNT; i++)
		if (!is_without_sample(i) && sum->values[i])
			return false;
	return true;
}

void bpf_drain(struct bpf *bpf, u32 half, struct drained *ret_drained)
{
	struct profd_bpf *skeleton = bpf->skeleton;
	int tallies = bpf_map__fd(half ? skeleton->maps.tallies_1 : skeleton->maps.tallies_0);
	int stacks = bpf_map__fd(half ? skeleton->maps.stacks_1 : skeleton->maps.stacks_0);
	struct drained drained = {
		.tally_keys = bpf->tally_keys,
		.tallies = bpf->tallies,
		.stack_keys = bpf->stack_keys,
		.stacks = bpf->stacks,
	};
	int err = drain_counters(bpf, half, &drained.counters);

	if (!err && is_empty(bpf, half, &drained.counters)) {
		*ret_drained = drained;
		return;
	}
	drained.err = drain_map(tallies, bpf->tally_size, bpf->tally_keys, sizeof(*bpf->tally_keys),
	                        bpf->tallies, sizeof(*bpf->tallies), &drained.tally_count);
	if (!drained.err)
		drained.err = err;
	err = drain_map(stacks, bpf->stack_size, bpf->stack_keys, sizeof(*bpf->stack_keys),
	                bpf->stacks, sizeof(*bpf->stacks), &drained.stack_count);
	if (!drained.err)
		drained.err = err;
	err = drain_gpu(bpf, half, &drained);
	if (!drained.err)
		drained.err = err;
	/* Entries that could not be read remain for the next drain, and their room remains
	 * taken. */
	bpf->left[half] = drained.err != 0;
	if (!drained.err) {
		give_back(&skeleton->bss->others_tallies[half]);
		give_back(&skeleton->bss->nodes_taken[half]);
		give_back(&skeleton->bss->others_nodes[half]);
	}
	*ret_drained = drained;
}
