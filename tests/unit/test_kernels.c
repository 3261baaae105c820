/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPU kernels named after the functions that launch them, in a profile made by hand.
 */
#include "symbolize/kernels.h"

#include "profile/kernel_place.h"
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

/* A frame as it is after its name was found in a file. */
static uint32_t frame(uint32_t parent, const char *name)
{
	const struct mapping mapping = {.path = builder_text(builder, name)};
	const struct function function = {.name = builder_text(builder, name)};
	uint32_t location = builder_location(builder, builder_mapping(builder, &mapping), 1);

	if (!builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, builder_function(builder, &function), 0);
	return builder_node(builder, parent, location);
}

static void launch(uint32_t caller, const char *kernel)
{
	const struct task task = {.pid = 1, .kernel = kernel_label(builder, kernel)};

	builder_sample(builder, builder_node(builder, caller, kernel_location(builder, kernel)),
	               builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){5});
}

static const char *text(uint32_t string)
{
	return profile_string(builder_view(builder), string);
}

/* The name of the leaf, which must equal the label. */
static const char *kernel_of(uint32_t sample)
{
	const struct profile *profile = builder_view(builder);
	const struct node *leaf = &profile->nodes[profile->samples[sample].node];
	const struct location *location = &profile->locations[leaf->location];
	const struct function *function =
		&profile->functions[profile->lines[location->first_line].function];

	ck_assert_str_eq(text(function->name),
	                 text(profile->tasks[profile->samples[sample].task].kernel));
	ck_assert_uint_eq(profile->samples[sample].values[0], 5);
	return text(function->name);
}

START_TEST(by_its_stub)
{
	uint32_t stub = frame(frame(0, "main"), "__device_stub__Z3addPfi(float*, int)");
	uint32_t runtime = frame(stub, "cudaLaunchKernel");

	launch(frame(runtime, "cuLaunchKernel"), "<kernel 0x1000>");
	ck_assert_int_eq(kernels_name(builder), 0);
	ck_assert_str_eq(kernel_of(1), "_Z3addPfi");
	/* Again, with a kernel that already has a name. */
	ck_assert_int_eq(kernels_name(builder), 0);
	ck_assert_str_eq(kernel_of(1), "_Z3addPfi");
}
END_TEST

START_TEST(nobody_knows)
{
	launch(frame(frame(0, "main"), "cuLaunchKernel"), "<kernel 0x1000>");
	launch(0, "<kernel 0x2000>");
	/* A name that was reported is kept, whatever function launches the kernel. */
	launch(frame(0, "__device_stub__Z3addPfi"), "_Z3subv");
	launch(frame(0, "__device_stub__Z3addPfi"), "<graph 0x3000>");
	ck_assert_int_eq(kernels_name(builder), 0);
	ck_assert_str_eq(kernel_of(1), "<kernel 0x1000>");
	ck_assert_str_eq(kernel_of(2), "<kernel 0x2000>");
	ck_assert_str_eq(kernel_of(3), "_Z3subv");
	ck_assert_str_eq(kernel_of(4), "<graph 0x3000>");
}
END_TEST

START_TEST(too_far_away)
{
	uint32_t node = frame(0, "__device_stub__Z3addPfi");

	for (int i = 0; i < 40; i++)
		node = frame(node, "recursion");
	launch(node, "<kernel 0x1000>");
	ck_assert_int_eq(kernels_name(builder), 0);
	ck_assert_str_eq(kernel_of(1), "<kernel 0x1000>");
}
END_TEST

START_TEST(many_of_one)
{
	uint32_t stub = frame(0, "__device_stub__Z3addPfi");

	launch(stub, "<kernel 0x1000>");
	launch(stub, "<kernel 0x2000>");
	ck_assert_int_eq(kernels_name(builder), 0);
	ck_assert_str_eq(kernel_of(1), "_Z3addPfi");
	ck_assert_str_eq(kernel_of(2), "_Z3addPfi");
	ck_assert_uint_eq(builder_view(builder)->samples[1].node,
	                  builder_view(builder)->samples[2].node);
}
END_TEST

START_TEST(stubs)
{
	static const struct {
		const char *function, *kernel;
	} cases[] = {
		{"__device_stub__Z3addPfi(float*, int)", "_Z3addPfi"},
		{"at::native::__device_stub__ZN2at3addEv()", "_ZN2at3addEv"},
		{"__device_stub__plain(int)", "plain"},
		{"void __wrapper__device_stub_scale<float>(float*&)", "scale<float>"},
		{"__wrapper__device_stub_scale", "scale"},
		{"void __wrapper__device_stub__foo<int>(int&)", "_foo<int>"},
		{"void __wrapper__device_stub_foo<void (*)(int)>(int&)", "foo<void (*)(int)>"},
		{"void __wrapper__device_stub_operator()<int>(int&)", "operator()<int>"},
		{"__device_stub__", NULL},
		{"__wrapper__device_stub_(", NULL},
		/* A name that was not demangled. */
		{"_Z24__device_stub__Z3addPfiPfi", NULL},
		{"cudaLaunchKernel", NULL},
		{"", NULL},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_stub = kernels_of_stub(cases[i].function, name, sizeof(name));

		ck_assert_int_eq(is_stub, cases[i].kernel != NULL);
		if (is_stub)
			ck_assert_str_eq(name, cases[i].kernel);
	}
	ck_assert(!kernels_of_stub(cases[0].function, name, strlen("_Z3addPfi")));
	ck_assert(kernels_of_stub(cases[0].function, name, sizeof("_Z3addPfi")));
}
END_TEST

Suite *kernels_suite(void)
{
	Suite *suite = suite_create("kernels");
	TCase *tcase = tcase_create("kernels");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, by_its_stub);
	tcase_add_test(tcase, nobody_knows);
	tcase_add_test(tcase, too_far_away);
	tcase_add_test(tcase, many_of_one);
	tcase_add_test(tcase, stubs);
	suite_add_tcase(suite, tcase);
	return suite;
}
