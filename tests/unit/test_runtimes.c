/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Words and runtimes: which words belong to a runtime, and what all runtimes say as one.
 */
#include "runtimes/runtimes.h"

#include "tests/unit/suites.h"

enum { PID = 7, NAME = 0x1234, OFFSET = 8 };

/* Knows one frame, one process and one thread. */
struct toy {
	unsigned int syncs, reads;
};

static void toy_sync(void *own)
{
	((struct toy *)own)->syncs++;
}

static void toy_read(void *own)
{
	((struct toy *)own)->reads++;
}

static bool toy_find(void *own, uint64_t name, uint32_t offset, struct runtime_frame *ret_frame)
{
	(void)own;
	if (name != NAME)
		return false;
	*ret_frame = (struct runtime_frame){.function = "work", .line = offset, .version = 0x020a};
	return true;
}

static uint32_t toy_version(const void *own, uint32_t pid)
{
	(void)own;
	return pid == PID ? 0x0207 : 0;
}

static uint64_t toy_began(const void *own, uint32_t pid, uint64_t image_mono_ns)
{
	(void)own;
	return pid == PID ? image_mono_ns + 1 : 0;
}

static const char *toy_thread_name(void *own, const struct runtime_thread *thread)
{
	(void)own;
	return thread->pid == PID && thread->tid == PID + 1 ? "worker" : NULL;
}

static void toy_figures(const void *own, figure_fn *fn, void *ctx)
{
	(void)own;
	fn(&(struct figure){.part = "toy", .name = "processes", .value = 3}, ctx);
}

static const struct runtime toy_runtime = {
	.name = "toy",
	.sync = toy_sync,
	.read = toy_read,
	.find = toy_find,
	.version = toy_version,
	.began = toy_began,
	.thread_name = toy_thread_name,
	.figures = toy_figures,
};

static struct toy toy;
static struct runtimes runtimes = {.at[RUNTIME_COUNT - 1] = {&toy_runtime, &toy}};
static const uint64_t toy_word = WORD_RUNTIME(RUNTIME_COUNT - 1);

static const struct {
	uint64_t word;
	bool of_runtime;
} words[] = {
	{0, false},
	{0x7fff12345678, false},
	{WORD_VALUE, false},
	{WORD_OF(python), true},
	{WORD_OF(python) | WORD_VALUE, true},
	{WORD_RUNTIME(RUNTIME_COUNT), false},
	{WORD_OFFSET | 1, false},
	{WORD_LOOP | 0x1000, false},
	{WORD_THREAD | 0x1000, false},
	{0xffffffffff600000, false}, /* [vsyscall] */
	{UINT64_MAX, false},
};

START_TEST(which_words_are_frames_of_a_runtime)
{
	ck_assert_int_eq(runtimes_name(words[_i].word) != NULL, words[_i].of_runtime);
}
END_TEST

START_TEST(finds_a_frame_by_its_words)
{
	struct runtime_frame frame = {.line = 77};
	struct runtime_version version = {0};

	ck_assert(
		runtimes_find(&runtimes, toy_word | NAME, WORD_OFFSET | OFFSET, &frame, &version));
	ck_assert_str_eq(frame.function, "work");
	ck_assert_uint_eq(frame.line, OFFSET);
	ck_assert_ptr_eq(version.runtime, &toy_runtime);
	ck_assert_uint_eq(version.version, 0x020a);
}
END_TEST

START_TEST(finds_nothing_where_there_is_nothing)
{
	struct runtimes closed = {0};
	struct runtime_frame frame = {.line = 77};
	struct runtime_version version = {.version = 9};

	ck_assert(!runtimes_find(&runtimes, toy_word | (NAME + 1), WORD_OFFSET, &frame, &version));
	ck_assert(!runtimes_find(&runtimes, 0x1000, WORD_OFFSET, &frame, &version));
	ck_assert(!runtimes_find(&closed, toy_word | NAME, WORD_OFFSET, &frame, &version));
	ck_assert(!runtimes_find(NULL, toy_word | NAME, WORD_OFFSET, &frame, &version));
	ck_assert_uint_eq(frame.line, 77);
	ck_assert_uint_eq(version.version, 9);
}
END_TEST

START_TEST(what_a_process_runs)
{
	struct runtime_version version = runtimes_of(&runtimes, PID);
	char text[RUNTIME_VERSION_BYTES];

	ck_assert_ptr_eq(version.runtime, &toy_runtime);
	runtime_version_text(&version, text);
	ck_assert_str_eq(text, "2.7");
	ck_assert_uint_eq(runtimes_began(&runtimes, PID, 100), 101);

	version = runtimes_of(&runtimes, PID + 1);
	ck_assert_ptr_null(version.runtime);
	runtime_version_text(&version, text);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(runtimes_began(&runtimes, PID + 1, 100), 0);
	ck_assert_ptr_null(runtimes_of(NULL, PID).runtime);
}
END_TEST

START_TEST(names_of_threads)
{
	const struct runtime_thread known = {PID, PID + 1, 0, 0}, other = {PID, PID, 0, 0};

	ck_assert_str_eq(runtimes_thread_name(&runtimes, &known), "worker");
	ck_assert_ptr_null(runtimes_thread_name(&runtimes, &other));
	ck_assert_ptr_null(runtimes_thread_name(NULL, &known));
}
END_TEST

static void add_figure(const struct figure *figure, void *ctx)
{
	ck_assert_str_eq(figure->part, "toy");
	*(uint64_t *)ctx += figure->value;
}

START_TEST(each_runtime_is_called)
{
	uint64_t sum = 0;

	toy = (struct toy){0};
	runtimes_sync(&runtimes);
	runtimes_read(&runtimes);
	runtimes_figures(&runtimes, add_figure, &sum);
	ck_assert_uint_eq(toy.syncs, 1);
	ck_assert_uint_eq(toy.reads, 1);
	ck_assert_uint_eq(sum, 3);
}
END_TEST

Suite *runtimes_suite(void)
{
	Suite *suite = suite_create("runtimes");
	TCase *tcase = tcase_create("runtimes");

	tcase_add_loop_test(tcase, which_words_are_frames_of_a_runtime, 0,
	                    sizeof(words) / sizeof(words[0]));
	tcase_add_test(tcase, finds_a_frame_by_its_words);
	tcase_add_test(tcase, finds_nothing_where_there_is_nothing);
	tcase_add_test(tcase, what_a_process_runs);
	tcase_add_test(tcase, names_of_threads);
	tcase_add_test(tcase, each_runtime_is_called);
	suite_add_tcase(suite, tcase);
	return suite;
}
