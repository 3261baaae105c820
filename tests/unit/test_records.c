/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Side-band records, complete and truncated at each length.
 */
#include "tests/unit/suites.h"

#include "sideband/records.h"

#include <linux/perf_event.h>
#include <string.h>

enum { PID = 4000001, CHILD = 4000002 };

static struct store *store;
static struct procs *procs;

static void set_up(void)
{
	store = store_new(16);
	procs = procs_new(store);
	ck_assert_ptr_nonnull(procs);
}

static void tear_down(void)
{
	procs_free(procs);
	store_free(store);
}

struct record {
	char bytes[256];
	size_t len;
};

static void put(struct record *record, const void *bytes, size_t len)
{
	ck_assert_uint_le(record->len + len, sizeof(record->bytes));
	memcpy(record->bytes + record->len, bytes, len);
	record->len += len;
}

static void put_u32(struct record *record, uint32_t value)
{
	put(record, &value, sizeof(value));
}

static void put_u64(struct record *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

static struct record begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};
	struct record record = {.len = 0};

	put(&record, &header, sizeof(header));
	return record;
}

static void finish(struct record *record, uint64_t time)
{
	uint16_t size;

	put_u64(record, time);
	size = (uint16_t)record->len;
	memcpy(record->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static struct record exec_record(void)
{
	struct record record = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);

	put_u32(&record, PID);
	put_u32(&record, PID);
	put(&record, "program\0", 8);
	finish(&record, 100);
	return record;
}

static struct record mmap_record(void)
{
	struct record record = begin(PERF_RECORD_MMAP2, 0);

	put_u32(&record, PID);
	put_u32(&record, PID);
	put_u64(&record, 0x1000);
	put_u64(&record, 0x2000);
	put_u64(&record, 0x3000);
	put_u32(&record, 1);
	put_u32(&record, 2);
	put_u64(&record, 3);
	put_u64(&record, 4);
	put_u32(&record, 5);
	put_u32(&record, 6);
	put(&record, "[code]\0", 8);
	finish(&record, 110);
	return record;
}

static struct record task_record(uint32_t type)
{
	struct record record = begin(type, 0);

	put_u32(&record, CHILD);
	put_u32(&record, PID);
	put_u32(&record, CHILD);
	put_u32(&record, PID);
	put_u64(&record, 120);
	finish(&record, 120);
	return record;
}

START_TEST(tells_the_table)
{
	struct record exec = exec_record(), map = mmap_record();
	struct record fork = task_record(PERF_RECORD_FORK);
	const struct proc_mapping *mapped;

	ck_assert_uint_eq(record_time(exec.bytes, exec.len), 100);
	ck_assert_uint_eq(record_apply(exec.bytes, exec.len, procs), 0);
	ck_assert_uint_eq(record_apply(map.bytes, map.len, procs), 0);
	ck_assert_uint_eq(record_apply(fork.bytes, fork.len, procs), 0);
	ck_assert_str_eq(procs_image(procs, CHILD, 130)->comm, "program");
	mapped = mapping_set_find(procs_image(procs, CHILD, 130)->set, 0x2fff);
	ck_assert_ptr_nonnull(mapped);
	ck_assert_str_eq(mapped->path, "[code]");
	ck_assert_uint_eq(mapped->offset, 0x3000);
	ck_assert_ptr_null(mapping_set_find(procs_image(procs, CHILD, 130)->set, 0x3000));
}
END_TEST

START_TEST(counts_what_was_lost)
{
	struct record lost = begin(PERF_RECORD_LOST, 0);

	put_u64(&lost, 1);
	put_u64(&lost, 77);
	finish(&lost, 5);
	ck_assert_uint_eq(record_apply(lost.bytes, lost.len, procs), 77);
}
END_TEST

/* Each record at each shorter length, in memory of exactly that size, for the sanitizers. */
START_TEST(survives_short_records)
{
	struct record records[] = {exec_record(), mmap_record(), task_record(PERF_RECORD_FORK),
	                           task_record(PERF_RECORD_EXIT), begin(PERF_RECORD_LOST, 0)};
	const struct record *record = &records[_i];

	for (size_t len = 0; len < record->len; len++) {
		char *copy = malloc(len ? len : 1);

		memcpy(copy, record->bytes, len);
		record_time(copy, len);
		ck_assert_uint_eq(record_apply(copy, len, procs), 0);
		free(copy);
	}
}
END_TEST

START_TEST(ignores_the_kernels_own_text)
{
	struct record map = mmap_record();
	uint32_t kernel = UINT32_MAX;
	struct proc_stats stats;

	memcpy(map.bytes + sizeof(struct perf_event_header), &kernel, sizeof(kernel));
	record_apply(map.bytes, map.len, procs);
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.processes, 0);
}
END_TEST

Suite *records_suite(void)
{
	Suite *suite = suite_create("records");
	TCase *tests = tcase_create("apply");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, tells_the_table);
	tcase_add_test(tests, counts_what_was_lost);
	tcase_add_loop_test(tests, survives_short_records, 0, 5);
	tcase_add_test(tests, ignores_the_kernels_own_text);
	suite_add_tcase(suite, tests);
	return suite;
}
