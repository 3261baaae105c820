/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The descendants of processes, collected from several sources.
 */
#include "tests/unit/suites.h"

#include "profile/builder.h"
#include "profile/descent.h"

static struct profile *slice(const struct kinship *tasks, size_t count)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *profile = NULL;

	for (size_t i = 0; i < count; i++) {
		struct task task = {.pid = tasks[i].pid, .parent = tasks[i].parent};

		builder_task(builder, &task);
	}
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

/* 1 started 10 and 20, 10 started 11 and 12, 12 started 13; 30 and 31 each started the other. */
static const struct kinship first[] = {{1, 10}, {10, 11}, {10, 12}, {0, 40}, {30, 31}, {0, 0}};
static const struct kinship second[] = {{1, 20}, {10, 12}, {12, 13}, {31, 30}, {50, 50}};
static const struct kinship known[] = {{11, 99}, {0, 7}, {20, 0}, {1, 10}};

static const struct {
	uint32_t pids[2];
	size_t count;
	uint32_t found[12]; /* up to a 0 */
} cases[] = {
	{{13}, 1, {13}},
	{{12}, 1, {12, 13}},
	{{10}, 1, {10, 11, 12, 13, 99}},
	{{1}, 1, {1, 10, 11, 12, 13, 20, 99}},
	{{20, 12}, 2, {12, 13, 20}},
	{{10, 12}, 2, {10, 11, 12, 13, 99}},
	{{30}, 1, {30, 31}},
	{{50}, 1, {50}},
	{{1000}, 1, {1000}},
	{{40}, 1, {40}},
	{{0}, 0, {0}},
};

START_TEST(finds_descendants)
{
	struct profile *slices[] = {slice(first, 6), slice(second, 5)};
	_cleanup_(descent_release) struct descent descent = {0};
	size_t found = 0;

	ck_assert_int_eq(
		descent_find(cases[_i].pids, cases[_i].count, slices, 2, known, 4, &descent), 0);
	for (uint32_t pid = 1; pid < 2000; pid++) {
		if (!descent_has(&descent, pid))
			continue;
		ck_assert_uint_eq(pid, cases[_i].found[found]);
		found++;
	}
	ck_assert_uint_eq(cases[_i].found[found], 0);
	ck_assert(!descent_has(&descent, 0));
	profile_unref(slices[0]);
	profile_unref(slices[1]);
}
END_TEST

START_TEST(finds_nobody_without_slices)
{
	_cleanup_(descent_release) struct descent descent = {0};

	ck_assert_int_eq(descent_find((uint32_t[]){3, 2}, 2, NULL, 0, NULL, 0, &descent), 0);
	ck_assert(descent_has(&descent, 2) && descent_has(&descent, 3));
	ck_assert(!descent_has(&descent, 1));
}
END_TEST

/* A long chain that closes into a circle. */
START_TEST(ends)
{
	enum { COUNT = 100000 };
	_cleanup_(descent_release) struct descent descent = {0};
	struct kinship *many = calloc(COUNT, sizeof(*many));

	ck_assert_ptr_nonnull(many);
	for (uint32_t i = 0; i < COUNT; i++)
		many[i] = (struct kinship){i + 1, (i + 1) % COUNT + 1};
	ck_assert_int_eq(descent_find((uint32_t[]){500}, 1, NULL, 0, many, COUNT, &descent), 0);
	ck_assert(descent_has(&descent, 499) && descent_has(&descent, 501));
	ck_assert_uint_eq(descent.count, COUNT + 1);
	free(many);
}
END_TEST

Suite *descent_suite(void)
{
	Suite *suite = suite_create("descent");
	TCase *tests = tcase_create("descent");

	tcase_add_loop_test(tests, finds_descendants, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, finds_nobody_without_slices);
	tcase_add_test(tests, ends);
	suite_add_tcase(suite, tests);
	return suite;
}
