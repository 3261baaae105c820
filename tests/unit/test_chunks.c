/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Chunks: created when there is no room, given back when they have been empty for a while and no
 * walker can read them.
 */
#include "unwind/chunks.h"

#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"

#include <stdlib.h>

enum { LARGE = 40000, MANY_EPOCHS = 20 };

static struct chunks *start(size_t count)
{
	struct chunks *chunks;

	fixture.memory.chunk_count = count;
	chunks = chunks_new(&fixture.memory);
	ck_assert_ptr_nonnull(chunks);
	return chunks;
}

START_TEST(as_many_as_are_needed)
{
	struct chunks *chunks = start(3);
	uint32_t runs[3];

	ck_assert_uint_eq(fixture_chunks(), 0);
	ck_assert_uint_eq(chunks_free_words(chunks), 3 * CHUNK_ROOM);
	for (uint32_t i = 0; i < 3; i++) {
		runs[i] = chunks_take(chunks, LARGE);
		ck_assert_uint_eq(runs[i] >> CHUNK_BITS, i);
		ck_assert_uint_eq(fixture_chunks(), i + 1);
		ck_assert_ptr_eq(chunks_words(chunks, runs[i]), fixture_words(runs[i]));
	}
	/* There are enough words, but not in one chunk. */
	ck_assert_uint_ge(chunks_free_words(chunks), LARGE);
	ck_assert_uint_lt(chunks_room(chunks), LARGE);
	ck_assert_uint_eq(chunks_take(chunks, LARGE), 0);
	uint32_t small = chunks_take(chunks, 100);
	ck_assert_uint_eq(small >> CHUNK_BITS, 0);
	ck_assert_uint_ge(small, runs[0] + LARGE);
	ck_assert_uint_eq(chunks_all_words(chunks) - chunks_free_words(chunks),
	                  3 * LARGE + 2 * CHUNK_GRAIN);
	chunks_free(chunks);
}
END_TEST

START_TEST(several_at_once_where_there_are_many)
{
	enum { MANY = 8 };
	struct chunks *chunks = start(MANY + 2);

	for (size_t i = 1; i <= MANY; i++) {
		ck_assert_uint_ne(chunks_take(chunks, LARGE), 0);
		ck_assert_uint_eq(fixture_chunks(), i);
	}
	ck_assert_uint_ne(chunks_take(chunks, LARGE), 0);
	ck_assert_uint_eq(fixture_chunks(), MANY + 2);
	ck_assert_uint_ne(chunks_take(chunks, LARGE), 0);
	ck_assert_uint_eq(chunks_take(chunks, LARGE), 0);
	chunks_free(chunks);
}
END_TEST

START_TEST(largest_run)
{
	struct chunks *chunks = start(2);

	ck_assert_uint_eq(chunks_take(chunks, CHUNK_ROOM + 1), 0);
	ck_assert_uint_eq(fixture_chunks(), 0);
	uint32_t run = chunks_take(chunks, CHUNK_ROOM);
	ck_assert_uint_ne(run, 0);
	/* The walker does not use the chunk's words behind that. */
	ck_assert_uint_eq((run & (CHUNK_WORDS - 1)) + CHUNK_ROOM, CHUNK_WORDS - CHUNK_SLACK);
	chunks_free(chunks);
}
END_TEST

START_TEST(empty_ones_are_given_back)
{
	struct chunks *chunks = start(4);
	uint32_t first = chunks_take(chunks, LARGE), second = chunks_take(chunks, LARGE);
	uint32_t epoch = 10;

	chunks_give(chunks, second, LARGE);
	chunks_tend(chunks, epoch);
	/* Not at once: another table may need the chunk soon, and then the time begins again. */
	for (int i = 0; i < 3; i++)
		chunks_tend(chunks, ++epoch);
	ck_assert_uint_eq(fixture_chunks(), 2);
	second = chunks_take(chunks, LARGE);
	chunks_give(chunks, second, LARGE);
	for (int i = 0; i < 4; i++)
		chunks_tend(chunks, ++epoch);
	ck_assert_uint_eq(fixture_chunks(), 2);
	/* The chunk is hidden, and is not given back before no walker can read it. */
	fixture.is_quiet = false;
	for (int i = 0; i < MANY_EPOCHS; i++)
		chunks_tend(chunks, ++epoch);
	ck_assert_uint_eq(fixture_chunks(), 1);
	ck_assert_ptr_nonnull(fixture.chunks[1]);
	/* The chunk is not used in the meantime. */
	uint32_t other = chunks_take(chunks, LARGE);
	ck_assert_uint_eq(other >> CHUNK_BITS, 2);
	fixture.is_quiet = true;
	chunks_tend(chunks, ++epoch);
	ck_assert_ptr_null(fixture.chunks[1]);
	ck_assert_uint_eq(chunks_take(chunks, LARGE) >> CHUNK_BITS, 1);
	ck_assert_ptr_eq(chunks_words(chunks, first), fixture_words(first));
	chunks_free(chunks);
}
END_TEST

/* One chunk at a time, because giving back waits for walkers. */
START_TEST(given_back_one_by_one)
{
	struct chunks *chunks = start(3);
	uint32_t runs[3], epoch = 10;

	for (int i = 0; i < 3; i++)
		runs[i] = chunks_take(chunks, LARGE);
	for (int i = 0; i < 3; i++)
		chunks_give(chunks, runs[i], LARGE);
	for (int i = 0; i <= 4; i++)
		chunks_tend(chunks, epoch++);
	ck_assert_uint_eq(fixture_chunks(), 3);
	for (size_t left = 3; left > 0; left--) {
		chunks_tend(chunks, epoch++);
		ck_assert_uint_eq(fixture_chunks(), left - 1);
	}
	chunks_free(chunks);
}
END_TEST

START_TEST(refused)
{
	struct chunks *chunks = start(2);

	chunks_tend(chunks, 10);
	fixture.has_memory = false;
	ck_assert_uint_eq(chunks_take(chunks, 100), 0);
	/* Memory is not requested again within the same second. */
	fixture.has_memory = true;
	ck_assert_uint_eq(chunks_room(chunks), 0);
	ck_assert_uint_eq(chunks_take(chunks, 100), 0);
	chunks_tend(chunks, 11);
	ck_assert_uint_eq(chunks_room(chunks), CHUNK_ROOM);
	ck_assert_uint_ne(chunks_take(chunks, 100), 0);
	chunks_free(chunks);
}
END_TEST

Suite *chunks_suite(void)
{
	Suite *suite = suite_create("chunks");
	TCase *tcase = tcase_create("chunks");

	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, as_many_as_are_needed);
	tcase_add_test(tcase, several_at_once_where_there_are_many);
	tcase_add_test(tcase, largest_run);
	tcase_add_test(tcase, empty_ones_are_given_back);
	tcase_add_test(tcase, given_back_one_by_one);
	tcase_add_test(tcase, refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
