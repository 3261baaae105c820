/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records in ring buffers, as the kernel writes them: a header, a number, and the time at the end.
 */
#include "tests/unit/suites.h"

#include "sideband/perf_ring.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 4096, DATA = 4096, RINGS = 3, RECORD = 40, TEXT = 256 };

struct record {
	struct perf_event_header header;
	uint64_t number, filler[2], time;
};

_Static_assert(sizeof(struct record) == RECORD, "as long as a record of a fork is");

static uint64_t memory[RINGS][(PAGE + DATA) / sizeof(uint64_t)];
static struct perf_ring rings[RINGS];
static struct perf_ring *order[RINGS];
static char told[TEXT];

static struct perf_event_mmap_page *control(int ring)
{
	return (struct perf_event_mmap_page *)memory[ring];
}

static void set_up(void)
{
	memset(memory, 0, sizeof(memory));
	for (int i = 0; i < RINGS; i++)
		perf_ring_init(&rings[i], memory[i], PAGE, DATA);
}

static void tear_down(void)
{
	for (int i = 0; i < RINGS; i++)
		perf_ring_release(&rings[i]);
}

/* Sets where the ring buffer is read and written; it is empty then. */
static void start_at(int ring, uint64_t at)
{
	control(ring)->data_head = control(ring)->data_tail = at;
}

static void write_bytes(int ring, const void *bytes, size_t len)
{
	char *data = (char *)memory[ring] + PAGE;

	for (size_t i = 0; i < len; i++)
		data[(control(ring)->data_head + i) % DATA] = ((const char *)bytes)[i];
	control(ring)->data_head += len;
}

static void write_record(int ring, uint64_t number, uint64_t time)
{
	struct record record = {.header.size = RECORD, .number = number, .time = time};

	write_bytes(ring, &record, sizeof(record));
}

static void note(const void *bytes, size_t len, void *ctx)
{
	struct record record;

	(void)ctx;
	ck_assert_uint_eq(len, RECORD);
	memcpy(&record, bytes, sizeof(record));
	snprintf(told + strlen(told), TEXT - strlen(told), "%d ", (int)record.number);
}

/* The numbers of at most `most` records up to a time, in the order in which they are delivered. */
static const char *told_of(uint64_t time, size_t most)
{
	for (int i = 0; i < RINGS; i++)
		order[i] = &rings[i];
	told[0] = '\0';
	perf_rings_tell(order, RINGS, time, most, note, NULL);
	return told;
}

static const char *told_until(uint64_t time)
{
	return told_of(time, SIZE_MAX);
}

START_TEST(tells_in_order_of_time)
{
	write_record(0, 1, 10);
	write_record(0, 4, 40);
	write_record(0, 7, 70);
	write_record(1, 3, 30);
	write_record(2, 2, 20);
	write_record(2, 5, 50);
	write_record(2, 6, 60);
	ck_assert(perf_ring_is_waiting(&rings[1]));
	ck_assert_str_eq(told_until(100), "1 2 3 4 5 6 7 ");
	for (int i = 0; i < RINGS; i++) {
		ck_assert(!perf_ring_is_waiting(&rings[i]));
		ck_assert_uint_eq(control(i)->data_tail, control(i)->data_head);
	}
	ck_assert_str_eq(told_until(100), "");
}
END_TEST

START_TEST(what_is_newer_waits)
{
	write_record(0, 1, 10);
	write_record(0, 3, 30);
	write_record(1, 2, 20);
	write_record(1, 4, 40);
	ck_assert_str_eq(told_until(20), "1 2 ");
	ck_assert_uint_eq(control(0)->data_tail, RECORD);
	ck_assert(perf_ring_is_waiting(&rings[1]));
	write_record(2, 5, 35);
	ck_assert_str_eq(told_until(35), "3 5 ");
	ck_assert_str_eq(told_until(99), "4 ");
}
END_TEST

START_TEST(the_rest_of_much_waits)
{
	write_record(0, 1, 10);
	write_record(0, 3, 30);
	write_record(1, 2, 20);
	write_record(1, 4, 40);
	ck_assert_str_eq(told_of(99, 3), "1 2 3 ");
	ck_assert(!perf_ring_is_waiting(&rings[0]));
	ck_assert(perf_ring_is_waiting(&rings[1]));
	write_record(0, 5, 50);
	ck_assert_str_eq(told_of(99, 3), "4 5 ");
}
END_TEST

/* Records may start anywhere in the ring buffer. */
START_TEST(records_wrap)
{
	uint64_t at = (uint64_t)DATA * 1000 - (uint64_t)_i * 8;

	start_at(0, at);
	for (uint64_t i = 0; i < 7; i++)
		write_record(0, i, i);
	ck_assert_str_eq(told_until(9), "0 1 2 3 4 5 6 ");
	ck_assert_uint_eq(control(0)->data_tail, at + (uint64_t)7 * RECORD);
	ck_assert_uint_eq(rings[0].broken, 0);
}
END_TEST

static void note_room(const void *record, size_t len, void *ctx)
{
	uint64_t kept = control(0)->data_head - control(0)->data_tail;

	(void)record;
	(void)len;
	*(uint64_t *)ctx = kept;
}

START_TEST(makes_room_on_the_way)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < DATA / RECORD; i++)
		write_record(0, i, i);
	order[0] = &rings[0];
	ck_assert_uint_eq(perf_rings_tell(order, 1, UINT64_MAX, SIZE_MAX, note_room, &kept),
	                  DATA / RECORD);
	ck_assert_uint_lt(kept, DATA / 8);
}
END_TEST

static const uint16_t bad_sizes[] = {0, 4, 12, 2 * RECORD, UINT16_MAX};

/* A malformed record and the rest behind it are dropped and counted; records that are written later
 * are delivered. */
START_TEST(the_rest_behind_nonsense_is_left_out)
{
	struct record bad = {.header.size = bad_sizes[_i]};

	write_record(0, 1, 10);
	write_bytes(0, &bad, sizeof(bad));
	write_record(1, 2, 20);
	ck_assert_str_eq(told_until(99), "1 2 ");
	ck_assert_uint_eq(rings[0].broken, 1);
	ck_assert(!perf_ring_is_waiting(&rings[0]));
	write_record(0, 3, 30);
	ck_assert_str_eq(told_until(99), "3 ");
}
END_TEST

Suite *perf_ring_suite(void)
{
	Suite *suite = suite_create("perf_ring");
	TCase *tests = tcase_create("rings");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, tells_in_order_of_time);
	tcase_add_test(tests, what_is_newer_waits);
	tcase_add_test(tests, the_rest_of_much_waits);
	tcase_add_loop_test(tests, records_wrap, 0, 16);
	tcase_add_test(tests, makes_room_on_the_way);
	tcase_add_loop_test(tests, the_rest_behind_nonsense_is_left_out, 0,
	                    sizeof(bad_sizes) / sizeof(bad_sizes[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
