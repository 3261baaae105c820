/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Drained halves: how the words of a stack become frames.
 */
#include "bpf/python.h"
#include "profile/quality.h"
#include "tests/unit/drain_fixture.h"

#include <stdio.h>

enum { MAX_WORDS = 1100 }; /* of a stack in these tests */

static void print_location(const struct profile *slice, uint32_t id, char *text, size_t room)
{
	static const char *const kinds[] = {"file", "kernel", "pseudo", "loop", "interpreted"};
	const struct location *location = &slice->locations[id];
	const struct mapping *mapping = &slice->mappings[location->mapping];
	const struct line *line = &slice->lines[location->first_line];
	const struct function *function = &slice->functions[line->function];

	if (location->line_count)
		snprintf(text, room, "%s %s %s:%u from %u", profile_string(slice, mapping->path),
		         profile_string(slice, function->name),
		         profile_string(slice, function->filename), line->number,
		         function->start_line);
	else if (mapping->kind == MAPPING_PSEUDO || mapping->kind == MAPPING_INTERPRETED)
		snprintf(text, room, "%s", profile_string(slice, mapping->path));
	else
		snprintf(text, room, "%s %#llx", kinds[mapping->kind],
		         (unsigned long long)location->address);
}

/* The call path of the only sample, root first, with "; " between frames. */
static const char *path_of(const struct profile *slice)
{
	static char text[4096], rest[4096], frame[256];

	text[0] = '\0';
	for (uint32_t id = slice->samples[1].node; id; id = slice->nodes[id].parent) {
		print_location(slice, slice->nodes[id].location, frame, sizeof(frame));
		snprintf(rest, sizeof(rest), "%s", text);
		snprintf(text, sizeof(text), "%s%s%.3000s", frame, rest[0] ? "; " : "", rest);
	}
	return text;
}

#define MAIN_10    "[python 3.8] main /app/a.py:10 from 10"
#define MAIN_11    "[python 3.8] main /app/a.py:11 from 10"
#define WORK_12    "[python 3.8] work /app/a.py:12 from 10"
#define UNMAPPED   "[unknown: address outside every mapping]"
#define NO_INFO    "[unknown: no unwind information]"
#define NO_RUNNER  "[unknown: what runs these interpreted frames]"
#define NO_CODE    "[python: code not known]"
#define WORDS(...) {__VA_ARGS__}, sizeof((u64[]){__VA_ARGS__}) / sizeof(u64)

static const struct stack_case {
	u64 words[12];
	size_t len;
	const char *path;
	struct drain_losses losses;
} stack_cases[] = {
	{WORDS(0x1010, 0x1020), "file 0x20; file 0x10", {0}},
	/* Python frames are placed among the native ones. */
	{WORDS(0x1010, P(0xbb), O(8), P(0xaa), O(4), L(0x1020), 0x1030),
         "file 0x30; loop 0x20; " MAIN_11 "; " WORK_12 "; file 0x10",
         {0}},
	/* A callback makes two runs of Python frames. */
	{WORDS(P(0xbb), O(9), L(0x1020), 0x1040, P(0xaa), O(0), L(0x1021), 0x1030),
         "file 0x30; loop 0x21; " MAIN_10 "; file 0x40; loop 0x20; " WORK_12,
         {0}},
	{WORDS(L(0x8010), 0x8020), "[jit]; [jit]", {0}},
	{WORDS(P(0xcc), O(8), L(0x1020)), "loop 0x20; " NO_CODE, {.codes_unknown = 1}},
	/* A word that stands alone is no frame. */
	{WORDS(P(0xbb), 0x1010), "file 0x10", {.words_misplaced = 1}},
	{WORDS(O(4), 0x1010), "file 0x10", {.words_misplaced = 1}},
	{WORDS(O(4), P(0xaa), 0x1010), "file 0x10", {.words_misplaced = 2}},
	{WORDS(P(0xbb), P(0xaa), O(4), O(8), 0x1010),
         "file 0x10; " MAIN_11,
         {.words_misplaced = 2}},
	{WORDS(P(0xbb)), NO_RUNNER, {.words_misplaced = 1}},
	/* An address outside every mapping ends the native frames, but not the Python frames. */
	{WORDS(0x1010, 0x7000, 0x1020), UNMAPPED "; file 0x10", {.frames_unmapped = 1}},
	{WORDS(0x1010, P(0xbb), O(8), L(0x7000), 0x1030, P(0xaa), O(4)),
         UNMAPPED "; " MAIN_11 "; " WORK_12 "; file 0x10",
         {.frames_unmapped = 1}},
	{WORDS(0xffffffffff600000, 0x1010), UNMAPPED, {.frames_unmapped = 1}},
	{WORDS(WORD_LOOP + WORD_PYTHON, 0x1010), UNMAPPED, {.frames_unmapped = 1}},
	/* A truncated native stack, with the Python frames that are left. */
	{WORDS(0x1010, P(0xaa), O(4), COUNTER_cut_no_rows),
         NO_INFO "; " MAIN_11 "; file 0x10",
         {0}},
	{WORDS(COUNTER_cut_no_rows), NO_INFO, {0}},
	{WORDS(0x1010, 0x1020, P(0xaa), O(4)),
         NO_RUNNER "; " MAIN_11 "; file 0x20; file 0x10",
         {0}},
};

START_TEST(words_become_frames)
{
	const struct stack_case *stack_case = &stack_cases[_i];
	_cleanup_(profile_unrefp) struct profile *slice =
		drain_words(stack_case->words, stack_case->len);

	ck_assert_str_eq(path_of(slice), stack_case->path);
	ck_assert_mem_eq(&losses, &stack_case->losses, sizeof(losses));
}
END_TEST

/* The kernel half reports an unknown code object again when it meets it again. */
START_TEST(asks_again_for_what_is_not_known)
{
	static const u64 words[] = {P(0xcc), O(4), P(0xaa), O(4), L(0x1020)};
	static u64 told[PYTHON_SENT];
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	told[0xaa] = 0xaa;
	told[0xcc ^ 1] = 0xcc;
	told[0xcc] = 0xcc + PYTHON_SENT;
	python_codes_told_in(codes, told);
	slice = drain_words(words, 5);
	ck_assert_uint_eq(told[0xaa], 0xaa);
	ck_assert_uint_eq(told[0xcc ^ 1], 0);
	ck_assert_uint_eq(told[0xcc], 0xcc + PYTHON_SENT);
}
END_TEST

START_TEST(every_frame_of_a_deep_stack)
{
	u64 words[MAX_STACK_FRAMES + 2];
	size_t frames = 0;
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	/* The number of words is odd, so that nodes divide the two words of a frame. */
	for (size_t at = 0; at < MAX_STACK_FRAMES - 2; at += 2) {
		words[at] = P(at % 4 ? 0xaa : 0xbb);
		words[at + 1] = O(4);
	}
	words[MAX_STACK_FRAMES - 2] = L(0x1020);
	slice = drain_words(words, MAX_STACK_FRAMES - 1);
	for (uint32_t id = slice->samples[1].node; id; id = slice->nodes[id].parent)
		frames++;
	ck_assert_uint_eq(frames, (MAX_STACK_FRAMES - 2) / 2 + 1);
	ck_assert_uint_eq(slice->location_count, 1 + 3); /* main, work, the loop */
	ck_assert_uint_eq(slice->line_count, 1 + 2);
	ck_assert_uint_eq(losses.words_misplaced, 0);
}
END_TEST

START_TEST(a_lost_part)
{
	static const u64 words[] = {0x1010, P(0xaa), O(4), L(0x1020)};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	put_stack(words, 4);
	nodes[0].parent = 0x9999;
	slice = drain(1);
	ck_assert_str_eq(path_of(slice),
	                 "[unknown: stack lost]; loop 0x20; " MAIN_11 "; file 0x10");
	ck_assert_uint_eq(losses.frames_without_stack, 1);
}
END_TEST

START_TEST(too_many_words)
{
	static const u64 words[MAX_WORDS] = {P(0xaa), O(4)};
	_cleanup_(profile_unrefp) struct profile *slice = drain_words(words, MAX_WORDS);

	ck_assert_uint_eq(losses.frames_unmapped, 1);
	ck_assert_str_eq(path_of(slice), UNMAPPED "; " MAIN_11);
}
END_TEST

START_TEST(frames_of_an_unknown_process)
{
	static const u64 words[] = {0x1010, P(0xaa), O(4), L(0x1020)};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	key.pid = key.tid = PID + 1;
	slice = drain_words(words, 4);
	ck_assert_str_eq(path_of(slice), UNMAPPED "; " MAIN_11);
	ck_assert_uint_eq(losses.images_missing, tally.count);
}
END_TEST

START_TEST(without_a_runtime)
{
	static const u64 words[] = {0x1010, P(0xaa), O(4), L(0x1020)};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	drain_tables.runtimes = NULL;
	slice = drain_words(words, 4);
	ck_assert_str_eq(path_of(slice), "loop 0x20; " NO_CODE "; file 0x10");
}
END_TEST

/* The loop's frame and another frame of its file: the file has two mappings. */
START_TEST(loops_are_apart)
{
	static const u64 words[] = {L(0x1010), 0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = drain_words(words, 2);
	struct quality quality;

	ck_assert_uint_eq(slice->mapping_count, 1 + 2);
	ck_assert_uint_eq(slice->mappings[1].path, slice->mappings[2].path);
	ck_assert_int_eq(quality_of(slice, &quality), 0);
	ck_assert_uint_eq(quality.complete, tally.count);
}
END_TEST

Suite *drain_suite(void)
{
	Suite *suite = suite_create("drain");
	TCase *tcase = tcase_create("drain");

	tcase_add_checked_fixture(tcase, drain_set_up, drain_tear_down);
	tcase_add_loop_test(tcase, words_become_frames, 0,
	                    sizeof(stack_cases) / sizeof(stack_cases[0]));
	tcase_add_test(tcase, every_frame_of_a_deep_stack);
	tcase_add_test(tcase, a_lost_part);
	tcase_add_test(tcase, too_many_words);
	tcase_add_test(tcase, frames_of_an_unknown_process);
	tcase_add_test(tcase, asks_again_for_what_is_not_known);
	tcase_add_test(tcase, without_a_runtime);
	tcase_add_test(tcase, loops_are_apart);
	suite_add_tcase(suite, tcase);
	return suite;
}
