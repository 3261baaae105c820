/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is known of the objects of a process, for all its threads: the device of a context, and
 * where an allocator's name is. All processes share a map that forgets the least recently used
 * element. So that no process can make it forget what others need, each process has a fixed number
 * of places, and an object can be in a few of them, by its address.
 */
#pragma once

#include "bpf/gpu/gpu_maps.bpf.h"
#include "bpf/task.bpf.h"

enum {
	GPU_KNOWN = 4096, /* of all processes */
	GPU_KNOWN_BITS = 6,
	GPU_KNOWN_PLACES = 1 << GPU_KNOWN_BITS, /* of a process, for each kind of object */
	GPU_KNOWN_TRIES = 4,                    /* places in which an object may be */
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
	u16 is_over; /* another object may take the place */
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

/* Finds an object. The search ends at an empty place: nothing lies behind it, unless an element was
 * forgotten. */
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

/* The value kept last for the object, or `otherwise`. This function and the next one are global, so
 * that the verifier checks them once and not for each path that leads to them. */
__noinline u32 known_of(u32 kind, u64 thing, u32 otherwise)
{
	const struct gpu_known *known = known_find(kind, thing);

	return known ? known->value : otherwise;
}

/* Keeps a value for an object. Where the process has no place left, the object in one of them is
 * forgotten; returns 1 then. */
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
	/* Fails where another thread has taken the place in between. */
	if (bpf_map_update_elem(&gpu_known, &key, &new, there ? BPF_ANY : BPF_NOEXIST))
		lost = 1;
	if (lost)
		GPU_ADD(known_lost);
	return lost;
}

/* The object has ended. Until its place is taken, its value stays known: a new object may already
 * be at the same address. */
static __noinline void known_over(enum gpu_known_kind kind, u64 thing)
{
	struct gpu_known *known = known_find(kind, thing);

	if (known)
		known->is_over = 1;
}
