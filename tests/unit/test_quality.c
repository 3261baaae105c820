/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The number of complete stacks, found from the roots of the call paths.
 */
#include "tests/unit/suites.h"

#include "profile/builder.h"
#include "profile/quality.h"

#include <stdio.h>

static uint32_t node_in(struct builder *builder, uint32_t parent, const char *path,
                        enum mapping_kind kind)
{
	struct mapping mapping = {.path = builder_text(builder, path), .kind = kind};
	uint32_t id = builder_mapping(builder, &mapping);

	return builder_node(builder, parent, builder_location(builder, id, 0x10));
}

static void add(struct builder *builder, uint32_t node, uint64_t samples)
{
	builder_sample(builder, node, 0, (uint64_t[PROFILE_VALUES]){samples, samples * 10});
}

static void check_quality(struct builder *builder, uint64_t stacks, uint64_t complete,
                          size_t cut_count)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct quality quality;

	builder_value_type(builder, "samples", "count");
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(quality_of(profile, &quality), 0);
	ck_assert_uint_eq(quality.stacks, stacks);
	ck_assert_uint_eq(quality.complete, complete);
	ck_assert_uint_eq(quality.cut_count, cut_count);
	if (cut_count)
		ck_assert_str_eq(profile_string(profile, quality.cuts[0].name), "[unknown: many]");
	builder_free(builder);
}

START_TEST(counts_by_root)
{
	struct builder *builder = builder_new();
	uint32_t main_node = node_in(builder, 0, "/bin/a", MAPPING_FILE);
	uint32_t few = node_in(builder, 0, "[unknown: few]", MAPPING_PSEUDO);
	uint32_t many = node_in(builder, 0, "[unknown: many]", MAPPING_PSEUDO);

	add(builder, main_node, 5);
	/* Frames above the root do not matter: JIT code, the kernel. */
	add(builder, node_in(builder, main_node, "[jit]", MAPPING_PSEUDO), 2);
	add(builder, node_in(builder, main_node, "[kernel.kallsyms]", MAPPING_KERNEL), 3);
	add(builder, few, 1);
	add(builder, node_in(builder, many, "/bin/a", MAPPING_FILE), 4);
	/* These samples have no user stack at all. */
	add(builder, node_in(builder, 0, "[kernel.kallsyms]", MAPPING_KERNEL), 100);
	add(builder, node_in(builder, 0, "[idle]", MAPPING_PSEUDO), 100);
	check_quality(builder, 15, 10, 2);
}
END_TEST

START_TEST(nothing_in_nothing)
{
	check_quality(builder_new(), 0, 0, 0);
}
END_TEST

START_TEST(too_many_reasons_still_count)
{
	struct builder *builder = builder_new();
	char name[32];

	for (int i = 0; i < 2 * MAX_CUT_REASONS; i++) {
		snprintf(name, sizeof(name), i ? "[unknown: %d]" : "[unknown: many]", i);
		add(builder, node_in(builder, 0, name, MAPPING_PSEUDO), i ? 1 : 9);
	}
	check_quality(builder, 9 + 2 * MAX_CUT_REASONS - 1, 0, MAX_CUT_REASONS);
}
END_TEST

Suite *quality_suite(void)
{
	Suite *suite = suite_create("quality");
	TCase *counting = tcase_create("counting");

	tcase_add_test(counting, counts_by_root);
	tcase_add_test(counting, nothing_in_nothing);
	tcase_add_test(counting, too_many_reasons_still_count);
	suite_add_tcase(suite, counting);
	return suite;
}
