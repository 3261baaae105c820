/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_feeds with struct gpu_events for their tests: two imaginary processes with mapped
 * code, and events that are sent in the form in which the ring buffer delivers them. Created before
 * each test, and freed after it.
 */
#pragma once

#include "base/clock.h"
#include "cuda/calls.h"
#include "gpu/gpu_events.h"
#include "gpu/gpu_feeds.h"
#include "ingest/source.h"
#include "tests/unit/suites.h"

enum {
	PID = 4000001, /* no process has it or the next one: above the kernel's default limit */
	OTHER,
	CODE = 0x1000, /* address of the code in both processes */
	IMAGE = 7,
	STARTED_NS = 100,
};

extern const struct hash_key hash_key;
extern struct drain_tables tables;
extern struct gpu_feeds *feeds;
extern struct gpu_events *events;
extern struct gpu_event event; /* sent next by tell(); its time grows with each event */
extern struct keepsake kept[8];
extern size_t kept_count;
extern struct gpu_figures found[8]; /* what figures() found */
extern size_t found_count;

void gpu_feeds_set_up(void);
void gpu_feeds_tear_down(void);

/* Sends the event, one nanosecond after the last one, with a stack of one word unless `word` is
 * 0. */
void tell(uint16_t kind, uint64_t address, uint64_t size, uint64_t word);
void send_name(uint64_t handle, const char *name);
/* Sends an allocation that was made in a context. */
void allocate(uint64_t context, enum gpu_memory memory, uint64_t address, uint64_t size);

/* The figures at this place; NULL: there are not that many. */
const struct gpu_figures *figures(size_t at);
struct gpu_stats stats(void);

/* Adds up the values of all samples. */
void add_up(const struct profile *profile, uint64_t sums[PROFILE_VALUES]);

#define CHECK_SUMS(profile, a, b, c, d)        \
	do {                                   \
		uint64_t sums[PROFILE_VALUES]; \
		add_up(profile, sums);         \
		ck_assert_uint_eq(sums[0], a); \
		ck_assert_uint_eq(sums[1], b); \
		ck_assert_uint_eq(sums[2], c); \
		ck_assert_uint_eq(sums[3], d); \
	} while (0)

/* Checks the objects and bytes that are held or, if `is_held` is false, those allocated since the
 * last call. */
void check(enum profile_kind kind, bool is_held, uint64_t objects, uint64_t bytes);
/* The bytes of the driver's memory that the event's program holds, and how often it has freed
 * some. */
uint64_t held(void);
uint64_t freed(void);
