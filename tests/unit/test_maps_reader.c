/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process table while other threads read its files of mappings: what it knows then, and what
 * records that arrive meanwhile change.
 */
#include "tests/unit/child.h"
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "proc/maps_reader.h"
#include "proc/proc.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct file_key no_file;

static struct {
	uv_loop_t loop;
	struct store *store;
	struct procs *procs;
	struct maps_reader *reader;
	int read, delivered;
	int err; /* of the next reading */
} all;

static void on_read(const struct maps_reading *reading, void *ctx)
{
	struct maps_reading failed = *reading;

	(void)ctx;
	all.read++;
	failed.err = all.err ?: reading->err;
	all.err = 0;
	procs_take_maps(all.procs, &failed);
}

static void on_delivered(void *ctx)
{
	(void)ctx;
	all.delivered++;
}

static void set_up(void)
{
	const struct maps_reader_config config = {&all.loop, on_read, on_delivered, NULL};

	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	all.store = store_new(64);
	all.procs = procs_new(all.store);
	ck_assert_ptr_nonnull(all.procs);
	ck_assert_int_eq(maps_reader_new(&config, &all.reader), 0);
	procs_read_by(all.procs, all.reader);
}

static void tear_down(void)
{
	procs_read_by(all.procs, NULL);
	maps_reader_stop(all.reader);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	maps_reader_free(all.reader);
	procs_free(all.procs);
	store_free(all.store);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
}

static const struct proc_mapping *find(uint32_t pid, const void *address)
{
	const struct mapping_set *set = procs_mappings(all.procs, pid);

	return set ? mapping_set_find(set, (uint64_t)(uintptr_t)address) : NULL;
}

/* Processes that run before a scan are known when the scan is over. */
START_TEST(a_scan_waits)
{
	ck_assert_int_eq(procs_scan(all.procs), 0);
	maps_reader_settle(all.reader, 10 * NSEC_PER_SEC);
	ck_assert_ptr_nonnull(find((uint32_t)getpid(), (const void *)&maps_reader_suite));
	ck_assert_int_gt(all.delivered, 0);
	ck_assert_uint_eq(maps_reader_waiting(all.reader), 0);
}
END_TEST

/* A process that no record announced is waited for when it has samples. */
START_TEST(who_is_met_is_waited_for)
{
	uint32_t child = child_start();
	const struct image *image;

	procs_expire(all.procs, 0);
	image = procs_image(all.procs, child, clock_mono_ns());
	ck_assert_ptr_nonnull(image);
	/* On a busy host the short wait inside procs_image() is not enough. */
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 1);
	ck_assert_ptr_nonnull(
		mapping_set_find(image->set, (uint64_t)(uintptr_t)&maps_reader_suite));
	child_end(child);
}
END_TEST

/* A mapping record arrives while the process's file is read: the record is known, and the file is
 * read again. */
START_TEST(records_come_meanwhile)
{
	uint32_t child = child_start();

	procs_comm(all.procs, child, child, "met");
	procs_mmap(all.procs, child, 0x1000, 0x2000, 0, &no_file, "[new]");
	ck_assert_ptr_null(find(child, (const void *)&maps_reader_suite));
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 1);
	ck_assert_ptr_nonnull(find(child, (const void *)(uintptr_t)0x1000));
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 2);
	ck_assert_ptr_nonnull(find(child, (const void *)&maps_reader_suite));
	/* The file of mappings does not have this mapping. */
	ck_assert_ptr_null(find(child, (const void *)(uintptr_t)0x1000));
	child_end(child);
}
END_TEST

/* An exec arrives while the file is read: the first reading belongs to the previous program. */
START_TEST(an_exec_comes_meanwhile)
{
	uint32_t child = child_start();

	procs_comm(all.procs, child, child, "met");
	procs_exec(all.procs, child, "other", clock_mono_ns());
	procs_mmap(all.procs, child, 0x1000, 0x2000, 0, &no_file, "[new]");
	for (int i = 0; i < 4; i++)
		maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_ge(all.read, 2);
	ck_assert_int_le(all.read, 3);
	ck_assert_str_eq(procs_image(all.procs, child, UINT64_MAX)->comm, "unit");
	child_end(child);
}
END_TEST

/* A child of a process whose mappings are still being read gets these mappings once they are
 * known. */
START_TEST(a_child_of_one_that_is_read)
{
	uint32_t child = child_start();

	procs_fork(all.procs, (uint32_t)getpid(), child, clock_mono_ns());
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_ptr_nonnull(find((uint32_t)getpid(), (const void *)&maps_reader_suite));
	ck_assert_ptr_nonnull(find(child, (const void *)&maps_reader_suite));
	child_end(child);
}
END_TEST

/* An address in no mapping is a reason to read the mappings only when records were lost. */
START_TEST(records_were_lost)
{
	uint32_t child = child_start();

	procs_expire(all.procs, 0);
	procs_exec(all.procs, child, "lost", clock_mono_ns());
	procs_look_again(all.procs, child);
	ck_assert_int_eq(all.read, 0);
	procs_want_rescan(all.procs);
	procs_look_again(all.procs, child);
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 1);
	ck_assert_ptr_nonnull(find(child, (const void *)&maps_reader_suite));
	/* The mappings are not read again for each sample. */
	procs_look_again(all.procs, child);
	ck_assert_uint_eq(maps_reader_waiting(all.reader), 0);
	child_end(child);
}
END_TEST

/* What could not be read for lack of something is read when the process is sampled. */
START_TEST(a_reading_that_failed_is_repeated)
{
	uint32_t child = child_start();
	struct proc_stats stats;

	procs_expire(all.procs, 0);
	all.err = -EMFILE;
	procs_comm(all.procs, child, child, "met");
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_ptr_null(find(child, (const void *)&maps_reader_suite));
	procs_get_stats(all.procs, &stats);
	ck_assert_uint_eq(stats.put_off, 1);
	procs_look_again(all.procs, child);
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 2);
	ck_assert_ptr_nonnull(find(child, (const void *)&maps_reader_suite));
	child_end(child);
}
END_TEST

/* While a process is read, it may start many others, which have a part of its mappings: few are
 * read at once. */
START_TEST(many_children_of_one_that_is_read)
{
	uint32_t child = child_start();

	procs_comm(all.procs, child, child, "met");
	for (uint32_t i = 0; i < 200; i++)
		procs_fork(all.procs, child, 4000 * 1000 + i, clock_mono_ns());
	ck_assert_uint_le(maps_reader_waiting(all.reader), 1 + 16);
	while (maps_reader_waiting(all.reader))
		maps_reader_settle(all.reader, NSEC_PER_SEC);
	child_end(child);
}
END_TEST

/* While records are lost, a new program's mappings are read before it has samples. When many
 * programs start at once, only some are read. */
START_TEST(new_programs_while_records_are_lost)
{
	uint32_t child = child_start();
	uint64_t now = clock_mono_ns();

	procs_expire(all.procs, 0);
	procs_exec(all.procs, child, "new", now);
	ck_assert_uint_eq(maps_reader_waiting(all.reader), 0);
	procs_want_rescan(all.procs);
	procs_exec(all.procs, child, "newer", now + 1);
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 1);
	ck_assert_ptr_nonnull(find(child, (const void *)&maps_reader_suite));
	for (uint32_t i = 0; i < 200; i++)
		procs_exec(all.procs, 4000 * 1000 + i, "storm", now + 2);
	ck_assert_uint_le(maps_reader_waiting(all.reader), 50);
	while (maps_reader_waiting(all.reader))
		maps_reader_settle(all.reader, NSEC_PER_SEC);
	child_end(child);
}
END_TEST

START_TEST(who_is_gone_is_not_known)
{
	uint32_t child = child_start();
	siginfo_t info;

	/* The process is a zombie that no process has waited for, so its pid is still taken. */
	ck_assert_int_eq(kill((pid_t)child, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
	procs_comm(all.procs, child, child, "met");
	maps_reader_settle(all.reader, NSEC_PER_SEC);
	ck_assert_int_eq(all.read, 1);
	ck_assert_ptr_null(find(child, (const void *)&maps_reader_suite));
	ck_assert_int_eq(waitpid((pid_t)child, NULL, 0), (pid_t)child);
}
END_TEST

Suite *maps_reader_suite(void)
{
	Suite *suite = suite_create("maps reader");
	TCase *tests = tcase_create("reader");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_scan_waits);
	tcase_add_test(tests, who_is_met_is_waited_for);
	tcase_add_test(tests, records_come_meanwhile);
	tcase_add_test(tests, an_exec_comes_meanwhile);
	tcase_add_test(tests, a_child_of_one_that_is_read);
	tcase_add_test(tests, records_were_lost);
	tcase_add_test(tests, a_reading_that_failed_is_repeated);
	tcase_add_test(tests, many_children_of_one_that_is_read);
	tcase_add_test(tests, new_programs_while_records_are_lost);
	tcase_add_test(tests, who_is_gone_is_not_known);
	suite_add_tcase(suite, tests);
	return suite;
}
