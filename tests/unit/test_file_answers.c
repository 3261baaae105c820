/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each file is asked about once, unless the error says nothing about it. The answers are those of
 * this test; no reader process is started.
 */
#include "base/clock.h"
#include "object/file_answers.h"
#include "tests/unit/store_files.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

static struct {
	uv_loop_t loop;
	struct lane *lane;
	struct reader *reader;
	struct store *store;
	struct file_answers *answers;
	int error;      /* of the next questions */
	bool keep_open; /* what answered() returns */
	int late_asked; /* of these, how many were asked the second time */
	int asked, answered, idle, released;
} all;

static int ask(struct reader *reader, struct file_answer *answer)
{
	ck_assert_ptr_eq(reader, all.reader);
	ck_assert_ptr_nonnull(answer->object);
	all.asked++;
	all.late_asked += answer->is_late;
	return all.error;
}

static bool answered(struct file_answer *answer, void *ctx)
{
	ck_assert_ptr_eq(ctx, &all);
	ck_assert_int_eq(answer->error, all.error);
	all.answered++;
	return all.keep_open;
}

static void on_idle(void *ctx)
{
	ck_assert_ptr_eq(ctx, &all);
	all.idle++;
}

static void release(struct file_answer *answer, void *ctx)
{
	(void)answer;
	ck_assert_ptr_eq(ctx, &all);
	all.released++;
}

static const struct file_question question = {
	.answer_bytes = sizeof(struct file_answer),
	.ask = ask,
	.answered = answered,
	.idle = on_idle,
	.release = release,
};

static void set_up(void)
{
	memset(&all, 0, sizeof(all));
	make_folder();
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	all.lane = lane_new(&all.loop, WORK_heaps, 4);
	all.reader = reader_new(&(struct reader_program){READER_SELF, "test", 1 << 20, 0});
	all.store = store_new(32);
	all.answers = file_answers_new(&question, all.lane, all.reader, all.store, &all);
}

static void run(void)
{
	while (lane_length(all.lane))
		uv_run(&all.loop, UV_RUN_ONCE);
}

static void tear_down(void)
{
	lane_stop(all.lane);
	run();
	file_answers_free(all.answers);
	lane_free(all.lane);
	reader_free(all.reader);
	store_free(all.store);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	remove_folder();
}

static uint32_t open_file(int number)
{
	struct file_key key;
	const char *path = make_file(number, number + 1, &key);
	const struct object *object = open_path(all.store, &key, path);

	ck_assert_ptr_nonnull(object);
	return object->id;
}

START_TEST(a_file_is_asked_about_once)
{
	const uint32_t id = open_file(0);

	all.error = _i ? -ENOENT : 0;
	const struct file_answer *answer = file_answers_get(all.answers, id);
	ck_assert_ptr_nonnull(answer);
	ck_assert(answer->is_pending);
	ck_assert_ptr_eq(file_answers_get(all.answers, id), answer);
	run();
	ck_assert(!answer->is_pending);
	ck_assert_ptr_null(answer->object);
	ck_assert_ptr_eq(file_answers_get(all.answers, id), answer);
	run();
	ck_assert_int_eq(all.asked, 1);
	ck_assert_int_eq(all.answered, 1);
	ck_assert_int_eq(all.idle, 1);
}
END_TEST

START_TEST(an_answer_may_keep_its_object)
{
	const struct file_answer *answer;

	all.keep_open = true;
	answer = file_answers_get(all.answers, open_file(0));
	run();
	ck_assert_ptr_nonnull(answer->object);
}
END_TEST

START_TEST(what_says_nothing_of_the_file_is_asked_again)
{
	const uint32_t id = open_file(0);

	all.error = -ECHILD;
	ck_assert_ptr_nonnull(file_answers_get(all.answers, id));
	run();
	ck_assert_int_eq(all.answered, 0);
	ck_assert_int_eq(all.released, 1);
	all.error = 0;
	ck_assert_ptr_nonnull(file_answers_get(all.answers, id));
	run();
	ck_assert_int_eq(all.asked, 2);
	ck_assert_int_eq(all.answered, 1);
}
END_TEST

START_TEST(a_slow_file_is_asked_about_after_the_others)
{
	all.error = -ETIMEDOUT;
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file(0)));
	run();
	ck_assert_int_eq(all.asked, 2);
	ck_assert_int_eq(all.late_asked, 1);
	/* Two deadlines were missed: nothing is known about the file. */
	ck_assert_int_eq(all.answered, 0);
	ck_assert_int_eq(all.released, 1);
}
END_TEST

START_TEST(there_is_no_answer_without_an_object)
{
	ck_assert_ptr_null(file_answers_get(all.answers, 12345));
	ck_assert_int_eq(all.asked, 0);
}
END_TEST

START_TEST(a_lane_that_is_full_is_asked_later)
{
	uint32_t ids[8];
	int refused = 0;

	for (int i = 0; i < 8; i++)
		ids[i] = open_file(i);
	for (int i = 0; i < 8; i++)
		refused += !file_answers_get(all.answers, ids[i]);
	ck_assert_int_gt(refused, 0);
	for (int round = 0; round < 8; round++) {
		run();
		for (int i = 0; i < 8; i++)
			file_answers_get(all.answers, ids[i]);
	}
	run();
	ck_assert_int_eq(all.asked, 8);
	ck_assert_int_eq(all.answered, 8);
}
END_TEST

START_TEST(what_was_not_asked_is_dropped_at_the_end)
{
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file(0)));
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file(1)));
	lane_stop(all.lane);
	run();
	ck_assert_int_le(all.asked, 1);
	ck_assert_int_eq(all.answered, all.asked);
	ck_assert_int_eq(all.released, 2 - all.asked);
}
END_TEST

Suite *file_answers_suite(void)
{
	Suite *suite = suite_create("file_answers");
	TCase *tcase = tcase_create("file_answers");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, a_file_is_asked_about_once, 0, 2);
	tcase_add_test(tcase, an_answer_may_keep_its_object);
	tcase_add_test(tcase, what_says_nothing_of_the_file_is_asked_again);
	tcase_add_test(tcase, a_slow_file_is_asked_about_after_the_others);
	tcase_add_test(tcase, there_is_no_answer_without_an_object);
	tcase_add_test(tcase, a_lane_that_is_full_is_asked_later);
	tcase_add_test(tcase, what_was_not_asked_is_dropped_at_the_end);
	suite_add_tcase(suite, tcase);
	return suite;
}
