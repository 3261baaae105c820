/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known of the things of a process, whatever thread of it asks: of a context its device, of
 * an allocator where its name is. All processes share a map that forgets the least recently used.
 * So that none of them can make it forget what is the others', each has so many places and not
 * more, where a thing is in one of a few by its address.
 */
#pragma once

#include "bpf/gpu_maps.bpf.h"
#include "bpf/task.bpf.h"

enum {
	GPU_KNOWN = 4096, /* of all processes */
	GPU_KNOWN_BITS = 6,
	GPU_KNOWN_PLACES = 1 << GPU_KNOWN_BITS, /* of a process, for each kind of thing */
	GPU_KNOWN_TRIES = 4,                    /* places a thing may be in */
};

enum gpu_known_kind { GPU_KNOWN_CONTEXT, GPU_KNOWN_ALLOCATOR };

struct gpu_known_key {
	u32 pid;
	u16 kind; /* enum gpu_known_kind */
	u16 place;
};

struct gpu_known {
	u64 thing; /* its address */
	u32 image; /* task_image() */
	u16 value;
	u16 is_over; /* another one may have the place */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct gpu_known_key);
	__type(value, struct gpu_known);
	__uint(max_entries, GPU_KNOWN);
} gpu_known SEC(".maps");

static __always_inline void known_first(struct gpu_known_key *key, enum gpu_known_kind kind,
                                        u64 thing)
{
	key->pid = bpf_get_current_pid_tgid() >> 32;
	key->kind = kind;
	key->place = thing * 0x9e3779b97f4a7c15ULL >> (64 - GPU_KNOWN_BITS);
}

static __always_inline void known_next(struct gpu_known_key *key)
{
	key->place = (key->place + 1) & (GPU_KNOWN_PLACES - 1);
}

/* Behind a place that nothing is in there is nothing, unless that was forgotten. */
static __always_inline struct gpu_known *known_find(enum gpu_known_kind kind, u64 thing)
{
	u32 image = task_image();
	struct gpu_known_key key;
	struct gpu_known *known;

	known_first(&key, kind, thing);
	for (u32 i = 0; i < GPU_KNOWN_TRIES; i++) {
		known = bpf_map_lookup_elem(&gpu_known, &key);
		if (!known || (known->thing == thing && known->image == image))
			return known;
		known_next(&key);
	}
	return NULL;
}

/* What was kept of it last, or `otherwise`. This and the next one are global, so that the verifier
 * goes through them once and not again for each way that leads to them. */
__noinline u32 known_of(u32 kind, u64 thing, u32 otherwise)
{
	const struct gpu_known *known = known_find(kind, thing);

	return known ? known->value : otherwise;
}

/* Where there is no place left to the process, what was in one is not known any more; 1 then. */
__noinline u32 known_keep(u32 kind, u64 thing, u16 value)
{
	struct gpu_known new = {.thing = thing, .image = task_image(), .value = value};
	struct gpu_known *there = NULL;
	struct gpu_known_key key;
	u32 i, lost = 0;

	known_first(&key, kind, thing);
	for (i = 0; i < GPU_KNOWN_TRIES; i++) {
		there = bpf_map_lookup_elem(&gpu_known, &key);
		if (!there || there->thing == thing || there->image != new.image || there->is_over)
			break;
		known_next(&key);
	}
	if (i == GPU_KNOWN_TRIES) {
		lost = 1;
		known_first(&key, kind, thing);
	}
	/* Not where another thread has come in between. */
	if (bpf_map_update_elem(&gpu_known, &key, &new, there ? BPF_ANY : BPF_NOEXIST))
		lost = 1;
	if (lost)
		GPU_ADD(known_lost);
	return lost;
}

/* It has ended. Until its place is taken it is known as before: there may be a new one at the same
 * address already. */
static __noinline void known_over(enum gpu_known_kind kind, u64 thing)
{
	struct gpu_known *known = known_find(kind, thing);

	if (known)
		known->is_over = 1;
}
