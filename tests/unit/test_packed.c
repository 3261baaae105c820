/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A packed profile is read back as it was; what is no packed profile is refused.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "base/gzip.h"
#include "encode/encoder.h"
#include "profile/builder.h"
#include "past/packed.h"
#include "past/past.h"
#include "proto/slice.pb-c.h"

#include <errno.h>
#include <string.h>

static const struct packed_host host = {.boot = 7, .wall_offset_ns = 1000};

static uint32_t add_function(struct builder *builder, const char *name)
{
	const struct function function = {
		.name = builder_text(builder, name),
		.system_name = builder_text(builder, "_Z1fv"),
		.filename = builder_text(builder, "/src/\xff.c"),
		.start_line = 3,
	};

	return builder_function(builder, &function);
}

static uint32_t add_mapping(struct builder *builder, const char *path, enum mapping_kind kind)
{
	const struct mapping mapping = {
		.path = builder_text(builder, path),
		.build_id = builder_text(builder, kind == MAPPING_FILE ? "abcd" : ""),
		.start = 0x1000,
		.limit = UINT64_MAX,
		.offset = 0x200,
		.kind = kind,
	};

	return builder_mapping(builder, &mapping);
}

static void add_samples(struct builder *builder)
{
	uint32_t file = add_mapping(builder, "/bin/a", MAPPING_FILE);
	uint32_t kernel = add_mapping(builder, "[kernel]", MAPPING_KERNEL);
	uint32_t first = builder_location(builder, file, 0x1234);
	uint32_t second = builder_location(builder, kernel, 0xffffffff81000000);
	struct task task = {.pid = 1,
	                    .tid = 2,
	                    .parent = 3,
	                    .account = 1000,
	                    .began_boot_ns = UINT64_MAX,
	                    .comm = builder_text(builder, "a"),
	                    .block = builder_text(builder, "32x1x1")};
	uint32_t node;

	/* Not in the order of the locations. */
	builder_line(builder, second, add_function(builder, "vfs_read"), 0);
	builder_line(builder, first, add_function(builder, "inlined"), 9);
	builder_line(builder, first, add_function(builder, "outer"), 0);
	node = builder_node(builder, builder_node(builder, 0, first), second);
	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){1, UINT64_MAX});
	task.tid = 4;
	builder_sample(builder, 0, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){2, 20});
}

static struct profile *made(void)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *profile;

	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_show(builder, 0);
	builder_period(builder, "cpu", "nanoseconds", 10101010);
	builder_ticks(builder, &(struct ticks){.total = 9, .idle = 4, .lost = 2, .missed = 1});
	builder_time(builder, 5000, 6000, NSEC_PER_SEC);
	add_samples(builder);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

static void pack(const struct profile *profile, struct buf *packed)
{
	ck_assert_int_eq(profile_pack(profile, &host, packed), 0);
}

static void encode(const struct profile *profile, struct buf *out)
{
	ck_assert_int_eq(encoder_find("pprof")->encode(profile, &(struct encode_options){0}, out),
	                 0);
}

static void check_same(const struct profile *a, const struct profile *b)
{
	_cleanup_(buf_release) struct buf a_bytes = BUF_INIT, b_bytes = BUF_INIT;

	encode(a, &a_bytes);
	encode(b, &b_bytes);
	ck_assert_uint_eq(a_bytes.len, b_bytes.len);
	ck_assert_mem_eq(a_bytes.data, b_bytes.data, a_bytes.len);
	/* What pprof does not have. */
	ck_assert_uint_eq(a->task_count, b->task_count);
	ck_assert_mem_eq(a->tasks, b->tasks, a->task_count * sizeof(*a->tasks));
	ck_assert_mem_eq(&a->ticks, &b->ticks, sizeof(a->ticks));
	ck_assert_uint_eq(a->start_mono_ns, b->start_mono_ns);
	for (uint32_t i = 1; i < a->mapping_count; i++)
		ck_assert_uint_eq(a->mappings[i].kind, b->mappings[i].kind);
}

START_TEST(it_is_read_back_as_it_was)
{
	_cleanup_(profile_unrefp) struct profile *profile = made(), *back = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;

	pack(profile, &packed);
	ck_assert_int_eq(profile_unpack(packed.data, packed.len, &host, &back), 0);
	check_same(profile, back);
	ck_assert_uint_eq(back->mappings[2].object, 0);
}
END_TEST

START_TEST(an_empty_one_is_read_back)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL, *back = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;

	builder_time(builder, 0, 1000, 0);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	pack(profile, &packed);
	ck_assert_int_eq(profile_unpack(packed.data, packed.len, &host, &back), 0);
	check_same(profile, back);
}
END_TEST

START_TEST(kernel_addresses_of_another_boot_are_apart)
{
	const struct packed_host later = {.boot = 8, .wall_offset_ns = 1000 * NSEC_PER_SEC};
	_cleanup_(profile_unrefp) struct profile *profile = made(), *back = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;

	pack(profile, &packed);
	ck_assert_int_eq(profile_unpack(packed.data, packed.len, &later, &back), 0);
	ck_assert_uint_eq(back->mappings[1].object, 0);
	ck_assert_uint_eq(back->mappings[2].object, host.boot);
	ck_assert_uint_eq(back->tasks[1].began_boot_ns, 0);
	ck_assert_uint_eq(back->start_wall_ns, 6000);
	/* Before the boot. */
	ck_assert_int_eq((int64_t)back->start_mono_ns, 6000 - (int64_t)later.wall_offset_ns);
}
END_TEST

START_TEST(parts_of_one_are_refused)
{
	_cleanup_(profile_unrefp) struct profile *profile = made(), *back = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;

	pack(profile, &packed);
	for (size_t len = 0; len < packed.len; len++)
		ck_assert_int_eq(profile_unpack(packed.data, len, &host, &back), -EBADMSG);
}
END_TEST

START_TEST(one_that_is_too_large_is_refused)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;
	_cleanup_free_ char *text = malloc(MAX_PACKED_BYTES + 1);

	memset(text, 'x', MAX_PACKED_BYTES);
	text[MAX_PACKED_BYTES] = '\0';
	builder_task(builder, &(struct task){.comm = builder_text(builder, text)});
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(profile_pack(profile, &host, &packed), -EFBIG);
}
END_TEST

static int unpack_message(const Profd__Slice *message)
{
	_cleanup_(profile_unrefp) struct profile *back = NULL;
	_cleanup_(buf_release) struct buf packed = BUF_INIT;
	size_t len = profd__slice__get_packed_size(message);
	struct gzip gzip;

	gzip_begin(&gzip, &packed);
	profd__slice__pack(message, gzip_reserve(&gzip, len));
	gzip_grown(&gzip, len);
	gzip_end(&gzip);
	return profile_unpack(packed.data, packed.len, &host, &back);
}

/* A message with one of everything. */
struct small {
	Profd__Slice message;
	uint32_t one, zero, string;
	uint64_t value;
};

static Profd__Slice *small(struct small *small)
{
	Profd__Slice *message = &small->message;

	*small = (struct small){PROFD__SLICE__INIT, 1, 0, 1, 5};
	message->strings.data = (uint8_t *)(uintptr_t) "a";
	message->strings.len = sizeof("a");
#define FIELD(name, from) (message->n_##name = 1, message->name = &small->from)
	FIELD(type_type, string);
	FIELD(type_unit, zero);
	FIELD(mapping_path, string);
	FIELD(location_address, value);
	FIELD(location_mapping, one);
	FIELD(location_first_line, one);
	FIELD(location_line_count, one);
	FIELD(line_function, one);
	FIELD(function_name, string);
	FIELD(node_parent, zero);
	FIELD(node_location, one);
	FIELD(task_pid, one);
	FIELD(task_comm, string);
	FIELD(sample_node, one);
	FIELD(sample_task, one);
	FIELD(values, value);
	return message;
}

START_TEST(ids_that_there_are_not_are_refused)
{
	static uint32_t two = 2, no_kind = MAPPING_KINDS, bad_one = 1;
	struct small all;

	ck_assert_int_eq(unpack_message(small(&all)), 0);
#define REFUSED(name, to)                                            \
	do {                                                         \
		Profd__Slice *message = small(&all);                 \
                                                                     \
		message->name = &(to);                               \
		ck_assert_int_eq(unpack_message(message), -EBADMSG); \
	} while (0)
	REFUSED(type_type, two);
	REFUSED(mapping_path, two);
	REFUSED(location_mapping, two);
	REFUSED(location_first_line, two);
	REFUSED(location_first_line, all.zero);
	REFUSED(location_line_count, two);
	REFUSED(line_function, two);
	REFUSED(function_name, two);
	REFUSED(node_parent, bad_one);
	REFUSED(node_location, two);
	REFUSED(node_location, all.zero);
	REFUSED(task_comm, two);
	REFUSED(sample_node, two);
	REFUSED(sample_task, two);
	small(&all)->mapping_kind = &no_kind;
	all.message.n_mapping_kind = 1;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
}
END_TEST

START_TEST(columns_of_different_lengths_are_refused)
{
	static uint32_t pair[2] = {1, 1}, many[PROFILE_VALUES + 1];
	struct small all;

	small(&all)->n_task_comm = 2;
	all.message.task_comm = pair;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
	small(&all)->n_values = 0;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
	small(&all)->n_type_unit = 0;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
	small(&all)->type_type = many;
	all.message.type_unit = many;
	all.message.n_type_type = all.message.n_type_unit = PROFILE_VALUES + 1;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
	small(&all)->shown = 1;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
	small(&all)->strings.len = 1;
	ck_assert_int_eq(unpack_message(&all.message), -EBADMSG);
	/* An absent column is all zeros. */
	small(&all)->n_task_comm = 0;
	ck_assert_int_eq(unpack_message(&all.message), 0);
}
END_TEST

/* The account 1000 has stacks of more than a profile may have; account 0 keeps its own. */
START_TEST(one_that_is_too_large_loses_the_stacks_of_one_account)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *large = NULL, *read = NULL;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	uint32_t file = add_mapping(builder, "/bin/a", MAPPING_FILE);
	struct task task = {.pid = 1, .tid = 1, .account = 1000};
	uint64_t own = 0, all = 0;

	builder_value_type(builder, "cpu", "nanoseconds");
	builder_period(builder, "cpu", "nanoseconds", 1);
	for (uint32_t i = 0; i < 300000; i++) {
		uint32_t location = builder_location(builder, file, 0x1000 + i);

		builder_sample(builder, builder_node(builder, 0, location),
		               builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	}
	task = (struct task){.pid = 2, .tid = 2};
	builder_sample(builder, builder_node(builder, 0, builder_location(builder, file, 0x77)),
	               builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){5});
	ck_assert_int_eq(builder_seal(builder, &large), 0);
	ck_assert_uint_gt(large->memory_bytes, MAX_PAST_BYTES);
	ck_assert_int_eq(encoder_past.encode(large, &(struct encode_options){0}, &bytes), 0);
	ck_assert_int_eq(profile_unpack(bytes.data, bytes.len, &host, &read), 0);
	for (uint32_t i = 1; i < read->sample_count; i++) {
		const struct sample *sample = &read->samples[i];
		uint32_t location = read->nodes[sample->node].location;

		all += sample->values[0];
		if (read->locations[location].address == 0x77)
			own += sample->values[0];
	}
	ck_assert_uint_eq(own, 5);
	ck_assert_uint_eq(all, 300000 + 5);
	ck_assert_uint_lt(read->sample_count, 10);
	/* Of the one that was given nothing has changed. */
	ck_assert_uint_eq(large->sample_count, 1 + 300000 + 1);
}
END_TEST

Suite *packed_suite(void)
{
	Suite *suite = suite_create("packed");
	TCase *tests = tcase_create("packed");

	tcase_add_test(tests, it_is_read_back_as_it_was);
	tcase_add_test(tests, an_empty_one_is_read_back);
	tcase_add_test(tests, kernel_addresses_of_another_boot_are_apart);
	tcase_add_test(tests, parts_of_one_are_refused);
	tcase_add_test(tests, one_that_is_too_large_is_refused);
	tcase_add_test(tests, one_that_is_too_large_loses_the_stacks_of_one_account);
	tcase_add_test(tests, ids_that_there_are_not_are_refused);
	tcase_add_test(tests, columns_of_different_lengths_are_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
