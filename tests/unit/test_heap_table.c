/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory in use, leaked, and at the peak, also when events arrive out of order, compared with a
 * model that remembers everything.
 */
#include "allocators/heap_table.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { STACKS = 7, ADDRESSES = 40, EVENTS = 20000 };

/* The sums of each stack, at index path - 1. */
struct answer {
	double allocated[STACKS], in_use[STACKS];
	size_t count;
};

static int keep(const struct heap_sums *sums, void *ctx)
{
	struct answer *answer = ctx;

	ck_assert_uint_lt(sums->path - 1, STACKS);
	ck_assert_uint_eq(sums->task, sums->path * 3);
	ck_assert_double_eq(sums->allocated.bytes, sums->allocated.objects * 16);
	ck_assert_double_eq(sums->in_use.bytes, sums->in_use.objects * 16);
	answer->allocated[sums->path - 1] += sums->allocated.bytes;
	answer->in_use[sums->path - 1] += sums->in_use.bytes;
	answer->count++;
	return 0;
}

static struct answer read_table(struct heap_table *table, enum heap_mode mode)
{
	const struct heap_window window = {.start_ns = 100, .end_ns = 200};
	struct answer answer = {0};

	ck_assert_int_eq(heap_table_read(table, mode, &window, keep, &answer), 0);
	return answer;
}

static struct heap_alloc alloc_of(uint32_t path, uint64_t address, double bytes, uint64_t time_ns)
{
	return (struct heap_alloc){.address = address,
	                           .size = 16,
	                           .time_ns = time_ns,
	                           .weight = {bytes, bytes / 16},
	                           .path = path,
	                           .task = path * 3};
}

static void add(struct heap_table *table, uint32_t path, uint64_t address, double bytes,
                uint64_t time_ns)
{
	const struct heap_alloc alloc = alloc_of(path, address, bytes, time_ns);

	heap_table_alloc(table, &alloc);
}

static struct heap_table_stats stats_of(const struct heap_table *table)
{
	struct heap_table_stats stats;

	heap_table_get_stats(table, &stats);
	return stats;
}

static int count_pairs(const struct heap_sums *sums, void *ctx)
{
	ck_assert_double_eq(sums->in_use.bytes, 32);
	(*(size_t *)ctx)++;
	return 0;
}

START_TEST(test_sums)
{
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(NULL);

	add(table, 1, 0x1000, 160, 100);
	add(table, 1, 0x2000, 320, 101);
	add(table, 2, 0x3000, 640, 102);
	heap_table_free(table, 0x1000, 110);
	struct answer all = read_table(table, HEAP_ALL), peak = read_table(table, HEAP_PEAK);
	ck_assert_double_eq(all.allocated[0], 480);
	ck_assert_double_eq(all.in_use[0], 320);
	ck_assert_double_eq(all.in_use[1], 640);
	ck_assert_double_eq(peak.in_use[0], 480);
	ck_assert_double_eq(peak.in_use[1], 640);
	ck_assert_uint_eq(all.count, 2);
	ck_assert_double_eq(stats_of(table).in_use.bytes, 960);
	ck_assert_double_eq(stats_of(table).peak.bytes, 1120);
	ck_assert_uint_eq(stats_of(table).peak_ns, 102);
	ck_assert_uint_eq(stats_of(table).live, 2);
}
END_TEST

/* The window is [100, 200]. Allocations made before it or in its second half are not judged. */
START_TEST(test_leaks)
{
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(NULL);

	add(table, 1, 0x1000, 16, 99);
	add(table, 2, 0x2000, 32, 100);
	add(table, 3, 0x3000, 64, 150);
	add(table, 4, 0x4000, 128, 151);
	add(table, 5, 0x5000, 256, 120);
	heap_table_free(table, 0x5000, 130);
	for (int again = 0; again < 2; again++) {
		struct answer leaks = read_table(table, HEAP_LEAKS);
		ck_assert_uint_eq(leaks.count, 2);
		ck_assert_double_eq(leaks.in_use[1], 32);
		ck_assert_double_eq(leaks.in_use[2], 64);
		ck_assert_double_eq(leaks.allocated[2], 64);
	}
}
END_TEST

START_TEST(test_free_before_its_allocation)
{
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(NULL);

	heap_table_free(table, 0x1000, 110);
	add(table, 1, 0x1000, 16, 100);
	ck_assert_uint_eq(stats_of(table).live, 0);
	ck_assert_double_eq(read_table(table, HEAP_ALL).allocated[0], 16);
	/* The free has been used up, and an older one says nothing about a later allocation. */
	add(table, 1, 0x1000, 16, 101);
	ck_assert_uint_eq(stats_of(table).live, 1);
	heap_table_free(table, 0x2000, 120);
	add(table, 1, 0x2000, 16, 130);
	ck_assert_uint_eq(stats_of(table).live, 2);
	ck_assert_uint_eq(stats_of(table).unmatched, 0);
	/* A second later, no late event can arrive any more. */
	add(table, 1, 0x3000, 16, 2000000000);
	ck_assert_uint_eq(stats_of(table).unmatched, 1);
}
END_TEST

START_TEST(test_address_used_again)
{
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(NULL);

	/* The free of the first allocation was lost. */
	add(table, 1, 0x1000, 16, 100);
	add(table, 2, 0x1000, 32, 110);
	ck_assert_uint_eq(stats_of(table).replaced, 1);
	ck_assert_uint_eq(stats_of(table).live, 1);
	ck_assert_double_eq(read_table(table, HEAP_ALL).in_use[0], 0);
	/* It comes late, and so does an allocation that ended before the current one. */
	heap_table_free(table, 0x1000, 105);
	add(table, 3, 0x1000, 64, 101);
	ck_assert_uint_eq(stats_of(table).live, 1);
	ck_assert_double_eq(read_table(table, HEAP_ALL).in_use[1], 32);
	ck_assert_double_eq(read_table(table, HEAP_ALL).in_use[2], 0);
	ck_assert_double_eq(read_table(table, HEAP_ALL).allocated[2], 64);
	heap_table_free(table, 0x1000, 120);
	ck_assert_uint_eq(stats_of(table).live, 0);
	ck_assert_double_eq(stats_of(table).in_use.bytes, 0);
}
END_TEST

START_TEST(test_realloc)
{
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(NULL);
	const struct heap_alloc in_place = alloc_of(2, 0x1000, 32, 110);
	const struct heap_alloc moved = alloc_of(3, 0x2000, 64, 120);

	add(table, 1, 0x1000, 16, 100);
	heap_table_realloc(table, 0x1000, &in_place, 110);
	ck_assert_double_eq(stats_of(table).in_use.bytes, 32);
	heap_table_realloc(table, 0x1000, &moved, 120);
	ck_assert_double_eq(stats_of(table).in_use.bytes, 64);
	heap_table_realloc(table, 0x2000, NULL, 130); /* the new size was not sampled */
	ck_assert_uint_eq(stats_of(table).live, 0);
	heap_table_realloc(table, 0, &moved, 140);
	ck_assert_uint_eq(stats_of(table).live, 1);
	ck_assert_uint_eq(stats_of(table).replaced, 0);
}
END_TEST

START_TEST(test_bounds)
{
	const struct heap_limits limits = {.live = 3, .stacks = 2};
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(&limits);

	for (uint64_t i = 0; i < 5; i++)
		add(table, 1, 0x1000 + i * 16, 16, 100 + i);
	ck_assert_uint_eq(stats_of(table).no_room_live, 2);
	ck_assert_double_eq(read_table(table, HEAP_ALL).allocated[0], 80);
	ck_assert_double_eq(read_table(table, HEAP_ALL).in_use[0], 48);
	heap_table_free(table, 0x1000, 200);
	add(table, 2, 0x5000, 16, 201);
	add(table, 3, 0x6000, 16, 202);
	ck_assert_uint_eq(stats_of(table).no_room_stacks, 1);
	ck_assert_uint_eq(stats_of(table).live, 3);
	add(table, 1, 0, 16, 203); /* address 0 */
	ck_assert_uint_eq(stats_of(table).live, 3);
	for (uint64_t i = 0; i < 2000; i++)
		heap_table_free(table, 0x100000 + i, 300 + i);
	ck_assert_uint_ge(stats_of(table).unmatched, 1000);
	ck_assert_uint_eq(stats_of(table).freed, 2001);
}
END_TEST

/* A simple model that keeps everything: the whole table is copied at each new peak. */
struct model {
	double allocated[STACKS], in_use[STACKS], at_peak[STACKS], total, peak;
	struct {
		uint32_t path;
		double bytes;
	} live[ADDRESSES];
};

static void model_alloc(struct model *model, size_t slot, uint32_t path, double bytes)
{
	model->live[slot].path = path;
	model->live[slot].bytes = bytes;
	model->allocated[path - 1] += bytes;
	model->in_use[path - 1] += bytes;
	model->total += bytes;
	if (model->total <= model->peak)
		return;
	model->peak = model->total;
	memcpy(model->at_peak, model->in_use, sizeof(model->in_use));
}

static void model_free(struct model *model, size_t slot)
{
	model->in_use[model->live[slot].path - 1] -= model->live[slot].bytes;
	model->total -= model->live[slot].bytes;
	model->live[slot].path = 0;
}

static void compare(struct heap_table *table, const struct model *model)
{
	struct answer all = read_table(table, HEAP_ALL), peak = read_table(table, HEAP_PEAK);

	for (size_t i = 0; i < STACKS; i++) {
		ck_assert_double_eq(all.allocated[i], model->allocated[i]);
		ck_assert_double_eq(all.in_use[i], model->in_use[i]);
		ck_assert_double_eq(peak.in_use[i], model->at_peak[i]);
	}
	ck_assert_double_eq(stats_of(table).peak.bytes, model->peak);
}

START_TEST(test_against_model)
{
	const struct heap_limits limits = {.live = ADDRESSES, .stacks = STACKS};
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(&limits);
	struct model model = {0};
	uint64_t random = 88172645463325252;

	for (uint64_t i = 1; i <= EVENTS; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		size_t slot = random % ADDRESSES;
		uint32_t path = (uint32_t)(random >> 20) % STACKS + 1;
		/* Sizes grow, so that there are new peaks all the time. */
		double bytes = 16 * (double)(random >> 40 & 0xff) + (double)(i & ~15ULL);
		uint64_t address = 0x7f0000000000 + slot * 32;

		if (model.live[slot].path) {
			heap_table_free(table, address, i * 10);
			model_free(&model, slot);
		} else {
			add(table, path, address, bytes, i * 10);
			model_alloc(&model, slot, path, bytes);
		}
		if (i % 97 == 0)
			compare(table, &model);
	}
	ck_assert_uint_eq(stats_of(table).no_room_live, 0);
}
END_TEST

/* The table takes memory for the entries that it has, and finds all of them after it has grown. */
START_TEST(test_growth)
{
	enum { MANY = 20000 };
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(NULL);
	size_t first = heap_table_memory(table);

	ck_assert_uint_lt(first, 64 << 10);
	for (uint32_t i = 0; i < MANY; i++)
		add(table, i % STACKS + 1, 0x1000 + 64 * i, 16, 100);
	ck_assert_uint_ge(heap_table_memory(table), MANY * sizeof(struct heap_alloc) / 2);
	uint32_t of_first = (MANY + STACKS - 1) / STACKS;
	struct answer all = read_table(table, HEAP_ALL);
	ck_assert_uint_eq(all.count, STACKS);
	ck_assert_double_eq(all.in_use[0], 16.0 * of_first);
	for (uint32_t i = 0; i < MANY; i++)
		heap_table_free(table, 0x1000 + 64 * i, 200);
	ck_assert_uint_eq(stats_of(table).live, 0);
	ck_assert_uint_eq(stats_of(table).no_room_live, 0);
	ck_assert_uint_eq(stats_of(table).unmatched, 0);
}
END_TEST

/* Each stack is a row of its own, however many there are. */
START_TEST(test_growth_of_rows)
{
	enum { MANY = 5000 };
	const struct heap_limits limits = {.stacks = MANY};
	_cleanup_(heap_table_destroyp) struct heap_table *table = heap_table_new(&limits);
	size_t count = 0;

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++)
			add(table, i + 1, 0x1000 + 64 * (round * MANY + i), 16, 100);
	ck_assert_int_eq(heap_table_read(table, HEAP_ALL, NULL, count_pairs, &count), 0);
	ck_assert_uint_eq(count, MANY);
	ck_assert_uint_eq(stats_of(table).no_room_stacks, 0);
	add(table, MANY + 1, 0x10, 16, 100);
	ck_assert_uint_eq(stats_of(table).no_room_stacks, 1);
}
END_TEST

Suite *heap_table_suite(void)
{
	Suite *suite = suite_create("heap_table");
	TCase *tcase = tcase_create("heap_table");

	tcase_add_test(tcase, test_sums);
	tcase_add_test(tcase, test_leaks);
	tcase_add_test(tcase, test_free_before_its_allocation);
	tcase_add_test(tcase, test_address_used_again);
	tcase_add_test(tcase, test_realloc);
	tcase_add_test(tcase, test_bounds);
	tcase_add_test(tcase, test_against_model);
	tcase_add_test(tcase, test_growth);
	tcase_add_test(tcase, test_growth_of_rows);
	suite_add_tcase(suite, tcase);
	return suite;
}
