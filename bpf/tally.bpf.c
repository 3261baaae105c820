/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adds samples up in tallies by thread, kind and stacks: the last step of every sample.
 */
#include "bpf/walk/unwind.bpf.h"

#include "bpf/sum.h"
#include "bpf/task.bpf.h"
#include "bpf/user.bpf.h"

static __always_inline void identify(struct tally_key *key)
{
	u64 ids = bpf_get_current_pid_tgid();

	key->pid = ids >> 32;
	key->tid = (u32)ids;
	key->image = task_image();
	bpf_get_current_comm(key->thread, sizeof(key->thread));
}

/* Takes room for a new tally; false where there is none. CPU time always has room. */
static __always_inline int has_room(u32 at, const struct scratch *scratch)
{
	struct taken *taken = &others_tallies[at & 1];
	u32 place;

	if (scratch->key.kind == KIND_cpu)
		return 1;
	place = taken_place(taken, others_room.tallies, scratch->user_and_1);
	if (place == NO_ROOM)
		return 0;
	taken_count(taken, place);
	return 1;
}

static __always_inline void note_account(struct tally *tally, const struct scratch *scratch)
{
	if (scratch->key.kind != KIND_offcpu) {
		tally->ran_ns = scratch->ran_ns;
	} else {
		tally->waited_ns = scratch->waited_ns;
		tally->delayed_ns = scratch->delayed_ns;
		tally->switches = (u32)scratch->switches;
	}
}

/* For a tally that is new. */
static __always_inline void begin_account(struct tally *tally, const struct scratch *scratch)
{
	if (scratch->key.kind == KIND_block) {
		tally->took_ns = scratch->waited_ns;
		return;
	}
	note_account(tally, scratch);
	if (scratch->key.kind != KIND_offcpu)
		tally->first_ran_ns = tally->ran_ns;
}

static __always_inline int add(u32 at, void *map, struct scratch *scratch, u64 samples, u64 value,
                               u64 now)
{
	struct tally first = {
		.count = samples,
		.value = value,
		.last_ns = now,
		.user = scratch->user_and_1 ? (u32)scratch->user_and_1 - 1
	                                    : (u32)bpf_get_current_uid_gid(),
	};
	struct tally *tally = bpf_map_lookup_elem(map, &scratch->key);
	long err;

	if (!tally) {
		if (!has_room(at, scratch))
			return -1;
		begin_account(&first, scratch);
		err = bpf_map_update_elem(map, &scratch->key, &first, BPF_NOEXIST);
		if (err != -EEXIST)
			return err;
		tally = bpf_map_lookup_elem(map, &scratch->key);
		if (!tally)
			return -1;
	}
	__sync_fetch_and_add(&tally->count, samples);
	sum_add(&tally->value, value);
	tally->last_ns = now;
	if (scratch->key.kind == KIND_block)
		__sync_fetch_and_add(&tally->took_ns, scratch->waited_ns);
	else
		note_account(tally, scratch);
	return 0;
}

/* The counter of a kind's recorded or lost samples. */
static __always_inline u32 counter_of(u32 kind, int is_lost)
{
	switch (kind) {
#define KIND(name, samples, lost) \
	case KIND_##name:         \
		return is_lost ? COUNTER_##lost : COUNTER_##samples;
		PROFILE_KINDS(KIND)
#undef KIND
	}
	return COUNTER_COUNT;
}

__noinline u32 tally_put(u32 at, u64 samples, u64 value, u64 last_ns)
{
	void *map = at & 1 ? (void *)&tallies_1 : (void *)&tallies_0;
	struct scratch *scratch = scratch_get(at);
	u32 is_lost;

	if (!scratch)
		return 1;
	if (scratch->key.kernel_stack == STACK_LOST || scratch->key.user_stack == STACK_LOST)
		count(at, COUNTER_stacks_lost, 1);
	is_lost = add(at, map, scratch, samples, value, last_ns) != 0;
	if (samples)
		count_by(at, counter_of(scratch->key.kind, is_lost), samples);
	else
		count_at(at, is_lost ? COUNTER_wait_parts_lost : COUNTER_wait_parts);
	return is_lost;
}

__noinline u32 tally_add(u32 at, u32 what, u64 kernel_stack, u64 user_stack, u64 value)
{
	struct scratch *scratch = scratch_get(at);

	if (!scratch)
		return 1;
	scratch->key = (struct tally_key){
		.kernel_stack = kernel_stack,
		.user_stack = user_stack,
		.kind = (u16)what,
		.detail = what >> KIND_DETAIL_SHIFT,
		.gil = user_stack != STACK_NONE ? scratch->gil : 0,
	};
	identify(&scratch->key);
	scratch->ran_ns = task_current()->se.sum_exec_runtime;
	return tally_put(at, 1, value, bpf_ktime_get_ns());
}
