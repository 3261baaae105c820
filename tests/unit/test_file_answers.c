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

enum { ALICE = 1000, BOB = 1001 };

static struct {
	uv_loop_t loop;
	struct lane *lane;
	struct reader *reader;
	struct store *store;
	struct file_answers *answers;
	int error;      /* of the next questions */
	bool keep_open; /* what answered() returns */
	int late_asked; /* of these, how many were asked the second time */
	int asked, answered, idle, room, released;
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

static void on_room(void *ctx)
{
	ck_assert_ptr_eq(ctx, &all);
	all.room++;
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
	.room = on_room,
	.release = release,
};

static void set_up_for(size_t objects, size_t queue)
{
	memset(&all, 0, sizeof(all));
	make_folder();
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	all.lane = lane_new(&all.loop, WORK_heaps, queue);
	all.reader = reader_new(&(struct reader_program){READER_SELF, "test", 1 << 20, 0});
	all.store = store_new(objects);
	all.answers = file_answers_new(&question, all.lane, all.reader, all.store, &all);
}

static void set_up(void)
{
	set_up_for(32, 4);
}

/* There is room for 8 objects and 16 answers; a user may have 3 and 7 of them. */
static void set_up_small(void)
{
	set_up_for(8, 64);
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

static uint32_t open_file_as(uint32_t user, int number)
{
	struct file_key key;
	const char *path = make_file(number % 8, number + 1, &key);
	const struct object *object = open_path_as(all.store, user, &key, path);

	ck_assert_ptr_nonnull(object);
	return object->id;
}

static uint32_t open_file(int number)
{
	return open_file_as(0, number);
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
	ck_assert_int_gt(all.room, 0);
	ck_assert_uint_ge(file_answers_put_off(all.answers), (uint64_t)refused);
}
END_TEST

/* A user with many files that are slow to read leaves room for the answers of others. */
START_TEST(each_user_has_a_share)
{
	int got = 0;

	for (int i = 0; i < 20; i++)
		got += file_answers_get(all.answers, open_file_as(ALICE, i)) != NULL;
	ck_assert_int_eq(got, 7);
	ck_assert_uint_eq(file_answers_put_off(all.answers), 13);
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file_as(BOB, 20)));
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file_as(0, 21)));
	ck_assert_int_eq(all.room, 0);
	run();
	ck_assert_int_eq(all.room, 1);
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file_as(ALICE, 22)));
}
END_TEST

/* Answers of files that are closed make room. */
START_TEST(what_is_closed_is_forgotten)
{
	for (int round = 0; round < 7; round++) {
		file_answers_get(all.answers, open_file_as(ALICE, round));
		run();
	}
	ck_assert_int_eq(all.answered, 7);
	ck_assert_int_eq(all.released, 0);
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file_as(ALICE, 7)));
	ck_assert_int_eq(all.released, 5);
	ck_assert_uint_eq(file_answers_put_off(all.answers), 0);
}
END_TEST

/* A question that waits holds no file open. */
START_TEST(what_is_closed_meanwhile_is_not_asked)
{
	ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file_as(BOB, 10)));
	for (int i = 0; i < 6; i++)
		ck_assert_ptr_nonnull(file_answers_get(all.answers, open_file_as(ALICE, i)));
	run();
	ck_assert_int_eq(all.asked, 1 + 3);
	ck_assert_int_eq(all.answered, all.asked);
	ck_assert_int_eq(all.released, 3);
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
	tcase = tcase_create("small");
	tcase_add_checked_fixture(tcase, set_up_small, tear_down);
	tcase_add_test(tcase, each_user_has_a_share);
	tcase_add_test(tcase, what_is_closed_is_forgotten);
	tcase_add_test(tcase, what_is_closed_meanwhile_is_not_asked);
	suite_add_tcase(suite, tcase);
	return suite;
}
