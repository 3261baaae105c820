/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct keepsakes - the last memory profiles of processes that the kernel killed for lack of
 * memory, that came near their limit, or that a GPU had no memory for. Their number is bounded by
 * MAX_KEEPSAKES, and their bytes are bounded as well. Of one process the latest profile of a kind
 * is kept, and the profile of its death replaces the one from near its limit. When there are too
 * many, one of the user with most of them is dropped: first those of processes that only came near
 * a limit, the oldest first. So no user can displace the keepsakes of users with fewer. Loop thread
 * only; profiles are shared by reference.
 */
#pragma once

#include "base/cleanup.h"
#include "profile/profile.h"

#include <stdbool.h>

enum { MAX_KEEPSAKES = 64 };

/* REASON(name, text): why a profile is kept, in ascending order of value. */
#define KEEPSAKE_REASONS(REASON)                \
	REASON(near_limit, "near limit")        \
	REASON(gpu_memory, "gpu out of memory") \
	REASON(killed, "killed")

#define REASON(name, text) KEEPSAKE_##name,
enum keepsake_reason { KEEPSAKE_REASONS(REASON) KEEPSAKE_REASON_COUNT };
#undef REASON

extern const char *const keepsake_reason_texts[KEEPSAKE_REASON_COUNT];

struct keepsake {
	uint32_t id; /* from 1 on, never reused */
	uint32_t pid;
	uint32_t owner; /* its user, as in proc/owner.h */
	char comm[16];
	uint32_t kind; /* of the profile: enum profile_kind of bpf/abi.h */
	enum keepsake_reason reason;
	uint64_t when_unix_ms;
	uint64_t bytes;          /* held by the process: resident and swapped out; or on GPUs */
	struct profile *profile; /* of the stacks that made it grow; not NULL */
};

#define KEEPSAKES_STATS(STAT)                                                                   \
	STAT(kept, gauge,                                                                       \
	     "Memory profiles kept of processes that ran, or nearly ran, out of memory")        \
	STAT(bytes, gauge, "Memory of the kept memory profiles")                                \
	STAT(killed, counter, "Memory profiles kept of processes killed for lack of memory")    \
	STAT(near_limit, counter, "Memory profiles kept of processes near the limit of memory") \
	STAT(gpu_memory, counter,                                                               \
	     "Memory profiles kept of processes that a GPU had no memory for")                  \
	STAT(evicted, counter, "Kept memory profiles dropped to make room for newer ones")

struct keepsakes_stats {
#define STAT(name, type, help) uint64_t name;
	KEEPSAKES_STATS(STAT)
#undef STAT
};

struct keepsakes *keepsakes_new(size_t max_bytes); /* NULL: out of memory */
void keepsakes_resize(struct keepsakes *keepsakes, size_t max_bytes);
void keepsakes_free(struct keepsakes *keepsakes);
DEFINE_CLEANUP(struct keepsakes *, keepsakes_free)

/* Takes over the reference to the profile; returns the id. */
uint32_t keepsakes_add(struct keepsakes *keepsakes, const struct keepsake *keepsake);
/* Newest first; NULL at the end. */
const struct keepsake *keepsakes_at(const struct keepsakes *keepsakes, size_t index);
const struct keepsake *keepsakes_find(const struct keepsakes *keepsakes, uint32_t id);
void keepsakes_get_stats(const struct keepsakes *keepsakes, struct keepsakes_stats *ret_stats);
