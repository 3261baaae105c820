/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of allocators at the leaves of a heap profile.
 */
#include "allocators/leaves.h"
#include "heap/heap_leaves.h"
#include "tests/unit/suites.h"

#include <string.h>

static struct builder *builder;

static void set_up(void)
{
	builder = builder_new();
}

static void tear_down(void)
{
	builder_free(builder);
}

/* A path of functions by their linker names, from the root. "a+b" is b inlined into a. */
static uint32_t path_of(const char *const *names, size_t count)
{
	uint32_t node = 0;

	for (size_t i = 0; i < count; i++) {
		const char *inlined = strchr(names[i], '+');
		size_t len = inlined ? (size_t)(inlined - names[i]) : strlen(names[i]);
		struct function outer = {.name = builder_text(builder, "shown"),
		                         .system_name = builder_string(builder, names[i], len)};
		struct function inner = {.name = builder_text(builder, "shown"),
		                         .system_name =
		                                 builder_text(builder, inlined ? inlined + 1 : "")};
		const struct mapping mapping = {.path = builder_text(builder, names[i])};
		uint32_t location =
			builder_location(builder, builder_mapping(builder, &mapping), 0x1000 + i);

		if (inlined)
			builder_line(builder, location, builder_function(builder, &inner), 1);
		builder_line(builder, location, builder_function(builder, &outer), 1);
		node = builder_node(builder, node, location);
	}
	return node;
}

/* The number of frames that are left of that path in a sample. */
static size_t left_of(const char *const *names, size_t count)
{
	const uint64_t values[PROFILE_VALUES] = {1, 64};
	const struct task task = {.pid = 1};
	const struct profile *profile;
	size_t left = 0;

	builder_value_type(builder, "alloc_objects", "count");
	builder_sample(builder, path_of(names, count), builder_task(builder, &task), values);
	heap_leaves_leave_off(builder);
	ck_assert_int_eq(builder_error(builder), 0);
	profile = builder_view(builder);
	ck_assert_uint_eq(profile->sample_count, 2);
	ck_assert_uint_eq(profile->samples[1].values[1], 64);
	for (uint32_t node = profile->samples[1].node; node; node = profile->nodes[node].parent)
		left++;
	return left;
}

static const struct {
	const char *names[4];
	size_t count, left;
} paths[] = {
	{{"main", "_Z4makev", "_Znwm", "malloc"}, 4, 2},
	{{"main", "_Z4makev", "_Znam", "_Znwm"}, 4, 2},
	{{"main", "_Z4makev"}, 2, 2},
	{{"main", "posix_memalign"}, 2, 1},
	{{"main", "_rjem_malloc", "__rust_alloc"}, 3, 1},
	{{"main", "_RNvCscSpY9Juk0HT_7___rustc12___rust_alloc"}, 2, 1},
	/* A location with inlined functions belongs to the allocator only if all of them do. */
	{{"main", "_Z4makev+_Znwm"}, 2, 2},
	{{"main", "_Znwm+malloc"}, 2, 1},
	/* An allocator's function that calls a function of the program stays, and so does the last
         * frame. */
	{{"main", "malloc", "hook"}, 3, 3},
	{{"malloc", "_Znwm"}, 2, 1},
	{{"main", "_RNvCscSpY9Juk0HT_3app12___rust_alloc"}, 2, 2},
};

START_TEST(the_leaf_is_who_asked)
{
	ck_assert_uint_eq(left_of(paths[_i].names, paths[_i].count), paths[_i].left);
}
END_TEST

START_TEST(names_of_allocators)
{
	static const char *const allocators[] = {"malloc",
	                                         "calloc",
	                                         "realloc",
	                                         "aligned_alloc",
	                                         "memalign",
	                                         "mmap",
	                                         "_ZnwmRKSt9nothrow_t",
	                                         "_ZnamSt11align_val_t",
	                                         "je_malloc",
	                                         "_rjem_mallocx",
	                                         "tc_new",
	                                         "mi_malloc",
	                                         "__libc_malloc",
	                                         "__rdl_alloc",
	                                         "__rust_realloc",
	                                         "_int_malloc",
	                                         "__posix_memalign"};
	static const char *const others[] = {"",     "main",       "mallocator", "my_malloc",
	                                     "_Znw", "rust_alloc", "_R7___rustc"};

	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++)
		ck_assert_msg(heap_leaf_is_allocators(allocators[i]), "%s", allocators[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert_msg(!heap_leaf_is_allocators(others[i]), "%s", others[i]);
}
END_TEST

Suite *heap_leaves_suite(void)
{
	Suite *suite = suite_create("heap_leaves");
	TCase *tcase = tcase_create("heap_leaves");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, the_leaf_is_who_asked, 0, sizeof(paths) / sizeof(*paths));
	tcase_add_test(tcase, names_of_allocators);
	suite_add_tcase(suite, tcase);
	return suite;
}
