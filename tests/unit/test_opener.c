/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct opener: a file whose opening is given up because another one hangs is opened later, by the
 * same ticket.
 */
#include "object/opener.h"

#include "base/clock.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A job that hangs until its pipe is written to. */
struct hanging {
	struct crew_job job;
	int pipe[2];
	bool done;
};

static struct {
	uv_loop_t loop;
	struct store *store;
	struct opener *opener;
	struct opened opened;
	size_t count;
	struct file_key key;
	struct place place;
	struct hanging hanging;
	char path[4096];
} all;

static void note(const struct opened *opened, size_t count, void *ctx)
{
	(void)ctx;
	all.opened = opened[0];
	all.count += count;
}

/* This program, which no process maps at that address, so it is found by its path. */
static void set_file(void)
{
	ssize_t len = readlink("/proc/self/exe", all.path, sizeof(all.path) - 1);
	struct stat st;

	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(stat(all.path, &st), 0);
	all.key = (struct file_key){major(st.st_dev), minor(st.st_dev), st.st_ino, 0};
	all.place = (struct place){
		.pid = (uint32_t)getpid(),
		.file = {all.key.major, all.key.minor, all.key.inode},
		.path = all.path,
	};
}

static void start(void)
{
	struct opener_config config = {.loop = &all.loop, .opened = note};

	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	config.store = all.store = store_new(64);
	ck_assert_ptr_nonnull(all.store);
	ck_assert_int_eq(opener_new(&config, &all.opener), 0);
	set_file();
}

static void stop(void)
{
	opener_stop(all.opener);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	opener_free(all.opener);
	store_free(all.store);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
}

static void hang(struct crew_job *job)
{
	struct hanging *hanging = (struct hanging *)job;
	char byte;

	ck_assert_int_eq(read(hanging->pipe[0], &byte, 1), 1);
}

static void hung(struct crew_job *job, int err)
{
	(void)err;
	((struct hanging *)job)->done = true;
}

/* Nothing else of that user on that device runs meanwhile. */
static void begin_to_hang(void)
{
	ck_assert_int_eq(pipe(all.hanging.pipe), 0);
	all.hanging.job = (struct crew_job){
		.device = makedev(all.key.major, all.key.minor), .run = hang, .done = hung};
	ck_assert_int_eq(crew_submit(opener_crew(all.opener), &all.hanging.job), 0);
}

static void end_to_hang(void)
{
	ck_assert_int_eq(write(all.hanging.pipe[1], "", 1), 1);
}

static void run_for(uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	while (clock_mono_ns() < end && !all.count)
		if (!uv_run(&all.loop, UV_RUN_NOWAIT))
			usleep(1000);
}

static void wait_given_up(void)
{
	struct crew_stats stats = {0};

	for (int i = 0; i < 100 && !stats.timed_out; i++) {
		run_for(100 * NSEC_PER_MSEC);
		opener_get_stats(all.opener, &stats);
	}
	ck_assert_uint_eq(stats.timed_out, 1);
}

START_TEST(a_file_is_opened)
{
	uint32_t ticket = opener_open(all.opener, &all.key, &all.place);

	ck_assert(store_is_ticket(ticket));
	run_for(10 * NSEC_PER_SEC);
	ck_assert_uint_eq(all.opened.ticket, ticket);
	ck_assert(store_has(all.store, all.opened.id));
	ck_assert_uint_eq(opener_open(all.opener, &all.key, &all.place), all.opened.id);
}
END_TEST

START_TEST(what_waits_behind_one_that_hangs_is_opened_later)
{
	uint32_t ticket;

	begin_to_hang();
	ticket = opener_open(all.opener, &all.key, &all.place);
	ck_assert(store_is_ticket(ticket));
	wait_given_up();
	ck_assert_uint_eq(all.count, 0);
	/* Who asks again waits for the same. */
	ck_assert_uint_eq(opener_open(all.opener, &all.key, &all.place), ticket);
	end_to_hang();
	run_for(30 * NSEC_PER_SEC);
	ck_assert_uint_eq(all.count, 1);
	ck_assert_uint_eq(all.opened.ticket, ticket);
	ck_assert(store_has(all.store, all.opened.id));
	ck_assert(all.hanging.done);
	close(all.hanging.pipe[0]);
	close(all.hanging.pipe[1]);
}
END_TEST

START_TEST(a_file_is_opened_when_there_are_descriptors_again)
{
	struct rlimit limit, few;
	uint32_t ticket;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){200, limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ticket = opener_open(all.opener, &all.key, &all.place);
	ck_assert(store_is_ticket(ticket));
	run_for(NSEC_PER_SEC);
	ck_assert_uint_eq(all.count, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	run_for(30 * NSEC_PER_SEC);
	ck_assert_uint_eq(all.count, 1);
	ck_assert_uint_eq(all.opened.ticket, ticket);
	ck_assert(store_has(all.store, all.opened.id));
}
END_TEST

/* Nothing is left when the daemon ends meanwhile. */
START_TEST(it_ends_while_a_file_is_put_off)
{
	begin_to_hang();
	ck_assert(store_is_ticket(opener_open(all.opener, &all.key, &all.place)));
	wait_given_up();
	end_to_hang();
}
END_TEST

Suite *opener_suite(void)
{
	Suite *suite = suite_create("opener");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, start, stop);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_file_is_opened);
	tcase_add_test(tests, what_waits_behind_one_that_hangs_is_opened_later);
	tcase_add_test(tests, a_file_is_opened_when_there_are_descriptors_again);
	tcase_add_test(tests, it_ends_while_a_file_is_put_off);
	suite_add_tcase(suite, tests);
	return suite;
}
