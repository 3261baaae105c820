/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gpu_feeds for the tests of it: two processes that do not exist, with code mapped, and events
 * that are sent as the ring would bring them. Made before each test, and freed after.
 */
#pragma once

#include "collect/gpu_feeds.h"
#include "base/clock.h"
#include "collect/source.h"
#include "gpu/calls.h"
#include "tests/unit/suites.h"

enum {
	PID = 4000001, /* over the kernel's default limit: nobody has it, or those after it */
	OTHER,
	CODE = 0x1000, /* mapped in both */
	IMAGE = 7,
};

extern struct drain_tables tables;
extern struct gpu_feeds *feeds;
extern struct gpu_event event; /* what tell() sends next; its time grows with each */
extern struct keepsake kept[8];
extern size_t kept_count;
extern struct gpu_figures found[8]; /* what figures() found */
extern size_t found_count;

void gpu_feeds_set_up(void);
void gpu_feeds_tear_down(void);

/* Sends the event, with a stack of one word if there is one, a moment after the one before. */
void tell(uint16_t kind, uint64_t address, uint64_t size, uint64_t word);
void send_name(uint64_t handle, const char *name);

/* NULL: there are not that many. */
const struct gpu_figures *figures(size_t at);
struct gpu_stats stats(void);

/* Sums of values of all samples. */
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

/* What is held, or else what was allocated since the last time, is these. */
void check(enum profile_kind kind, bool held, uint64_t objects, uint64_t bytes);
