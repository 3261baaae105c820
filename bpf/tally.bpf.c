/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adds samples up in tallies by thread, kind and stacks: the last step of every sample.
 */
#include "bpf/walk/unwind.bpf.h"

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
static __always_inline int has_room(u32 at, u32 kind)
{
	struct taken *taken = &others_tallies[at & 1];
	u32 place;

	if (kind == KIND_cpu)
		return 1;
	place = taken_place(taken, others_room.tallies);
	if (place == NO_ROOM)
		return 0;
	taken_count(taken, place);
	return 1;
}

static __always_inline int add(u32 at, void *map, struct tally_key *key, u64 value, u64 now)
{
	u64 ran_ns = task_current()->se.sum_exec_runtime;
	struct tally first = {
		.count = 1,
		.value = value,
		.last_ns = now,
		.first_ran_ns = ran_ns,
		.ran_ns = ran_ns,
		.user = (u32)bpf_get_current_uid_gid(),
	};
	struct tally *tally = bpf_map_lookup_elem(map, key);
	long err;

	if (!tally) {
		if (!has_room(at, key->kind))
			return -1;
		err = bpf_map_update_elem(map, key, &first, BPF_NOEXIST);
		if (err != -EEXIST)
			return err;
		tally = bpf_map_lookup_elem(map, key);
		if (!tally)
			return -1;
	}
	__sync_fetch_and_add(&tally->count, 1);
	__sync_fetch_and_add(&tally->value, value);
	tally->last_ns = now;
	tally->ran_ns = ran_ns;
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

__noinline u32 tally_add(u32 at, u32 what, u64 kernel_stack, u64 user_stack, u64 value)
{
	void *map = at & 1 ? (void *)&tallies_1 : (void *)&tallies_0;
	struct scratch *scratch = scratch_get(at);
	u32 kind = (u16)what;
	struct tally_key key = {
		.kernel_stack = kernel_stack,
		.user_stack = user_stack,
		.kind = kind,
		.detail = what >> KIND_DETAIL_SHIFT,
	};

	identify(&key);
	if (scratch && user_stack != STACK_NONE)
		key.gil = scratch->gil;
	if (kernel_stack == STACK_LOST || user_stack == STACK_LOST)
		count(at, COUNTER_stacks_lost, 1);
	if (add(at, map, &key, value, bpf_ktime_get_ns())) {
		count_at(at, counter_of(kind, 1));
		return 1;
	}
	count_at(at, counter_of(kind, 0));
	return 0;
}
