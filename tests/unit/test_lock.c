/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Locks for which stacks wait: where they are shown, and what VIEW_lock consists of.
 */
#include "profile/activity.h"
#include "profile/select.h"
#include "symbolize/native.h"
#include "tests/unit/suites.h"
#include "tests/unit/wall_profile.h"

#define LOCK(text)                     \
	{                              \
		MAPPING_LOCK, text, "" \
	}

/* A lock, a condition, the GIL, a lock of the kernel, a read, and CPU time. */
static struct profile *waits(void)
{
	struct builder *builder = begin();

	add(builder, SLEEP("futex"),
	    FRAMES(USER("main"), USER("pthread_mutex_lock"), LOCK("[lock a]"), KERNEL("futex_wait"),
	           KERNEL("schedule")),
	    1, 10 * MS);
	add(builder, SLEEP("futex"),
	    FRAMES(USER("main"), USER("pthread_cond_wait"), LOCK("[lock b]"), KERNEL("futex_wait")),
	    1, 20 * MS);
	add(builder, (struct what){1, "sleep", "futex", "waiting"},
	    FRAMES(PYTHON("spins", "a.py"), LOCK("[lock GIL]")), 1, 40 * MS);
	add(builder, (struct what){1, "disk", "page_fault", ""},
	    FRAMES(USER("main"), KERNEL("rwsem_down_read_slowpath")), 1, 80 * MS);
	add(builder, SLEEP("read"), FRAMES(USER("main"), USER("read"), KERNEL("pipe_read")), 1,
	    160 * MS);
	add(builder, RUNNING, FRAMES(USER("main")), 1, 320 * MS);
	return seal(builder);
}

static struct profile *selected(struct profile *of, const struct selection *selection)
{
	struct builder *builder = builder_new();

	ck_assert_ptr_nonnull(builder);
	ck_assert_int_eq(select_merge(builder, &of, 1, selection), 0);
	if (activities_decide(selection))
		ck_assert_int_eq(activities_leave_out(builder, selection), 0);
	return seal(builder);
}

static const char *name_at(const struct profile *profile, uint32_t node)
{
	const struct location *location = &profile->locations[profile->nodes[node].location];
	uint32_t function = profile->lines[location->first_line].function;

	return profile_string(profile, profile->functions[function].name);
}

/* The time below a leaf of this name. */
static uint64_t time_at(const struct profile *profile, const char *leaf)
{
	uint64_t ns = 0;

	for (uint32_t i = 1; i < profile->sample_count; i++)
		if (!strcmp(name_at(profile, profile->samples[i].node), leaf))
			ns += profile->samples[i].values[1];
	return ns;
}

static uint64_t total(const struct profile *profile)
{
	uint64_t ns = 0;

	for (uint32_t i = 1; i < profile->sample_count; i++)
		ns += profile->samples[i].values[1];
	return ns;
}

START_TEST(they_take_the_place_of_the_kernel)
{
	struct profile *of = waits();
	struct profile *hidden = selected(of, &(struct selection){0});
	struct profile *shown = selected(of, &(struct selection){.locks = LOCKS_SHOWN});
	struct profile *kept = selected(of, &(struct selection){.locks = LOCKS_KEPT});
	struct profile *python =
		selected(of, &(struct selection){.locks = LOCKS_SHOWN, .no_native = true});

	ck_assert_uint_eq(time_at(hidden, "schedule"), 10 * MS);
	ck_assert_uint_eq(time_at(hidden, "futex_wait"), 20 * MS);
	ck_assert_uint_eq(time_at(hidden, "spins"), 40 * MS);
	ck_assert_uint_eq(time_at(shown, "[lock a]"), 10 * MS);
	ck_assert_uint_eq(time_at(shown, "[lock b]"), 20 * MS);
	ck_assert_uint_eq(time_at(shown, "[lock GIL]"), 40 * MS);
	ck_assert_uint_eq(time_at(shown, "pipe_read"), 160 * MS);
	ck_assert_uint_eq(time_at(kept, "schedule"), 10 * MS);
	ck_assert_uint_eq(time_at(python, "[lock a]"), 10 * MS);
	ck_assert_uint_eq(time_at(python, "[lock GIL]"), 40 * MS);
	for (size_t i = 0; i < 5; i++)
		profile_unref(((struct profile *[]){of, hidden, shown, kept, python})[i]);
}
END_TEST

START_TEST(the_view_has_waits_for_locks_only)
{
	struct profile *of = waits();
	struct profile *locks = selected(
		of, &(struct selection){.view = VIEW_lock, .locks = LOCKS_KEPT, .no_work = true});
	struct profile *all = selected(
		of, &(struct selection){.view = VIEW_lock, .locks = LOCKS_KEPT, .no_work = false});

	ck_assert_uint_eq(total(locks), (10 + 40 + 80) * MS);
	ck_assert_uint_eq(total(all), (10 + 20 + 40 + 80) * MS);
	ck_assert_str_eq(profile_string(locks, locks->types[1].type), "lock");
	ck_assert_str_eq(profile_string(locks, locks->comments[1]),
	                 "waiting for work left out: 0.020 s");
	ck_assert_uint_eq(all->comment_count, 1);
	for (size_t i = 0; i < 3; i++)
		profile_unref(((struct profile *[]){of, locks, all})[i]);
}
END_TEST

START_TEST(a_lock_is_named_as_well_as_may_be)
{
	static const struct {
		const char *path, *name;
		uint64_t offset;
		const char *expected;
	} cases[] = {
		{NULL, "table", 0, "[lock table]"},
		{NULL, "table", 64, "[lock table+0x40]"},
		{"/usr/lib/libc.so.6", NULL, 0x1000, "[lock libc.so.6+0x1000]"},
		{NULL, NULL, 0x7ffe1000, "[lock 0x7ffe1000]"},
	};
	struct builder *builder = builder_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = native_lock(builder, cases[i].path, cases[i].name, cases[i].offset);
		const struct profile *profile = builder_view(builder);

		ck_assert_str_eq(profile_string(profile, profile->functions[id].name),
		                 cases[i].expected);
	}
	builder_free(builder);
}
END_TEST

Suite *lock_suite(void)
{
	Suite *suite = suite_create("lock");
	TCase *tests = tcase_create("lock");

	tcase_add_test(tests, they_take_the_place_of_the_kernel);
	tcase_add_test(tests, the_view_has_waits_for_locks_only);
	tcase_add_test(tests, a_lock_is_named_as_well_as_may_be);
	suite_add_tcase(suite, tests);
	return suite;
}
