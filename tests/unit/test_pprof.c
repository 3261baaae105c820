/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The pprof encoding, decoded and checked against the rules of its readers.
 */
#include "tests/unit/gunzip.h"
#include "tests/unit/suites.h"

#include "base/text.h"
#include "encode/encoder.h"
#include "profile/builder.h"
#include "proto/profile.pb-c.h"

#include <string.h>

enum { MAX_PLAIN_BYTES = 1 << 20 };

typedef void build_fn(struct builder *builder);

static Perftools__Profiles__Profile *encoded(build_fn *build)
{
	static uint8_t plain[MAX_PLAIN_BYTES];
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {0};
	Perftools__Profiles__Profile *message;
	size_t length;

	build(builder);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(encoder_find("pprof")->encode(profile, &options, &out), 0);
	length = gunzip(&out, plain, sizeof(plain));
	message = perftools__profiles__profile__unpack(NULL, length, plain);
	ck_assert_ptr_nonnull(message);
	return message;
}

static const char *string_at(const Perftools__Profiles__Profile *message, int64_t string)
{
	ck_assert_int_ge(string, 0);
	ck_assert_int_lt(string, (int64_t)message->n_string_table);
	return message->string_table[string];
}

static void check_sample(const Perftools__Profiles__Profile *message,
                         const Perftools__Profiles__Sample *sample)
{
	ck_assert_uint_eq(sample->n_value, message->n_sample_type);
	for (size_t i = 0; i < sample->n_location_id; i++) {
		ck_assert_uint_ge(sample->location_id[i], 1);
		ck_assert_uint_le(sample->location_id[i], message->n_location);
	}
	for (size_t i = 0; i < sample->n_label; i++) {
		const Perftools__Profiles__Label *label = sample->label[i];

		ck_assert_str_ne(string_at(message, label->key), "");
		/* A label is either text, or a number with a unit; otherwise the reader drops
		 * it. */
		ck_assert(!*string_at(message, label->str) !=
		          !*string_at(message, label->num_unit));
	}
}

static void check_location(const Perftools__Profiles__Profile *message,
                           const Perftools__Profiles__Location *location)
{
	ck_assert_uint_le(location->mapping_id, message->n_mapping);
	ck_assert_uint_ge(location->n_line, 1);
	for (size_t i = 0; i < location->n_line; i++) {
		ck_assert_uint_ge(location->line[i]->function_id, 1);
		ck_assert_uint_le(location->line[i]->function_id, message->n_function);
	}
}

static void check_valid(const Perftools__Profiles__Profile *message)
{
	ck_assert_str_eq(string_at(message, 0), "");
	for (size_t i = 0; i < message->n_string_table; i++) {
		const char *string = message->string_table[i];

		ck_assert_uint_eq(text_utf8_prefix(string, strlen(string)), strlen(string));
	}
	for (size_t i = 0; i < message->n_mapping; i++) {
		const Perftools__Profiles__Mapping *mapping = message->mapping[i];

		ck_assert_uint_eq(mapping->id, i + 1);
		ck_assert(mapping->has_functions && mapping->has_filenames &&
		          mapping->has_line_numbers && mapping->has_inline_frames);
		string_at(message, mapping->filename);
		string_at(message, mapping->build_id);
	}
	for (size_t i = 0; i < message->n_function; i++) {
		ck_assert_uint_eq(message->function[i]->id, i + 1);
		ck_assert_str_ne(string_at(message, message->function[i]->name), "");
		string_at(message, message->function[i]->system_name);
		string_at(message, message->function[i]->filename);
	}
	for (size_t i = 0; i < message->n_location; i++) {
		ck_assert_uint_eq(message->location[i]->id, i + 1);
		check_location(message, message->location[i]);
	}
	for (size_t i = 0; i < message->n_sample; i++)
		check_sample(message, message->sample[i]);
	for (size_t i = 0; i < message->n_comment; i++)
		ck_assert_str_ne(string_at(message, message->comment[i]), "");
	ck_assert_int_eq(message->doc_url, 0);
}

static uint32_t function(struct builder *builder, const char *name, const char *system_name)
{
	return builder_function(
		builder, &(struct function){.name = builder_text(builder, name),
	                                    .system_name = builder_text(builder, system_name),
	                                    .filename = builder_text(builder, "a.c"),
	                                    .start_line = 7});
}

static void build_all(struct builder *builder)
{
	struct mapping host = {.path = builder_text(builder, "[host web1]"),
	                       .kind = MAPPING_PSEUDO};
	struct mapping file = {.path = builder_text(builder, "/bin/a"),
	                       .build_id = builder_text(builder, "00ff"),
	                       .start = 0x1000,
	                       .limit = 0x2000,
	                       .offset = 0x1000};
	struct task task = {.pid = 12, .tid = 13, .comm = builder_text(builder, "bad\xff\xfename")};
	uint32_t file_id, a, b, node;

	builder_mapping(builder, &host);
	file_id = builder_mapping(builder, &file);
	a = builder_location(builder, file_id, 0x1010);
	b = builder_location(builder, file_id, 0x1020);
	builder_line(builder, a, function(builder, "f<int>()", "_Z1fIiE"), 8);
	builder_line(builder, a, function(builder, "<lambda>", "<lambda>"), 9);
	node = builder_node(builder, builder_node(builder, 0, b), a);
	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_period(builder, "cpu", "nanoseconds", 10101010);
	builder_time(builder, 5, 1000, 2000);
	builder_comment(builder, "host: web1");
	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){3, UINT64_MAX});
	task = (struct task){.thread = builder_text(builder, "worker"),
	                     .unit = builder_text(builder, "a.service"),
	                     .container = builder_text(builder, "0123456789ab"),
	                     .pod = builder_text(builder, "uid"),
	                     .runtime_version = builder_text(builder, "3.11"),
	                     .gil = builder_text(builder, "held")};
	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){1, 2});
}

START_TEST(writes_everything)
{
	Perftools__Profiles__Profile *message = encoded(build_all);
	const Perftools__Profiles__Sample *sample = message->sample[0];

	check_valid(message);
	ck_assert_str_eq(string_at(message, message->sample_type[0]->type), "samples");
	ck_assert_str_eq(string_at(message, message->sample_type[1]->unit), "nanoseconds");
	ck_assert_str_eq(string_at(message, message->default_sample_type), "cpu");
	ck_assert_str_eq(string_at(message, message->period_type->type), "cpu");
	ck_assert_int_eq(message->period, 10101010);
	ck_assert_int_eq(message->time_nanos, 1000);
	ck_assert_int_eq(message->duration_nanos, 2000);
	ck_assert_str_eq(string_at(message, message->comment[0]), "host: web1");
	ck_assert_str_eq(string_at(message, message->mapping[0]->filename), "[host web1]");
	ck_assert_str_eq(string_at(message, message->mapping[1]->build_id), "00ff");
	ck_assert_uint_eq(message->mapping[1]->memory_limit, 0x2000);
	ck_assert_uint_eq(message->n_sample, 2);
	ck_assert_uint_eq(sample->n_location_id, 2);
	ck_assert_uint_eq(message->location[sample->location_id[0] - 1]->address, 0x1010);
	ck_assert_uint_eq(message->location[sample->location_id[1] - 1]->address, 0x1020);
	ck_assert_int_eq(sample->value[0], 3);
	ck_assert_int_eq(sample->value[1], INT64_MAX);
	perftools__profiles__profile__free_unpacked(message, NULL);
}
END_TEST

static void build_shown(struct builder *builder)
{
	builder_value_type(builder, "alloc_space", "bytes");
	builder_value_type(builder, "inuse_space", "bytes");
	builder_show(builder, 0);
}

START_TEST(says_which_value_is_shown)
{
	Perftools__Profiles__Profile *message = encoded(build_shown);

	ck_assert_str_eq(string_at(message, message->default_sample_type), "alloc_space");
	perftools__profiles__profile__free_unpacked(message, NULL);
}
END_TEST

START_TEST(writes_labels)
{
	Perftools__Profiles__Profile *message = encoded(build_all);
	Perftools__Profiles__Label **first = message->sample[0]->label;
	Perftools__Profiles__Label **second = message->sample[1]->label;

	ck_assert_uint_eq(message->sample[0]->n_label, 3);
	ck_assert_str_eq(string_at(message, first[0]->key), "pid");
	ck_assert_int_eq(first[0]->num, 12);
	ck_assert_str_eq(string_at(message, first[0]->num_unit), "id");
	ck_assert_str_eq(string_at(message, first[1]->key), "tid");
	ck_assert_int_eq(first[1]->num, 13);
	ck_assert_str_eq(string_at(message, first[2]->key), "comm");
	ck_assert_str_eq(string_at(message, first[2]->str), "bad\xef\xbf\xbd\xef\xbf\xbdname");
	ck_assert_uint_eq(message->sample[1]->n_label, 8);
	ck_assert_int_eq(second[0]->num, 0);
	ck_assert_str_eq(string_at(message, second[0]->num_unit), "id");
	ck_assert_str_eq(string_at(message, second[2]->key), "thread");
	ck_assert_str_eq(string_at(message, second[2]->str), "worker");
	ck_assert_str_eq(string_at(message, second[3]->key), "unit");
	ck_assert_str_eq(string_at(message, second[3]->str), "a.service");
	ck_assert_str_eq(string_at(message, second[4]->key), "container");
	ck_assert_str_eq(string_at(message, second[4]->str), "0123456789ab");
	ck_assert_str_eq(string_at(message, second[5]->key), "pod");
	ck_assert_str_eq(string_at(message, second[5]->str), "uid");
	ck_assert_str_eq(string_at(message, second[6]->key), "runtime_version");
	ck_assert_str_eq(string_at(message, second[6]->str), "3.11");
	ck_assert_str_eq(string_at(message, second[7]->key), "gil");
	ck_assert_str_eq(string_at(message, second[7]->str), "held");
	perftools__profiles__profile__free_unpacked(message, NULL);
}
END_TEST

START_TEST(writes_names)
{
	Perftools__Profiles__Profile *message = encoded(build_all);
	Perftools__Profiles__Location **locations = message->location;
	const Perftools__Profiles__Function *f;

	/* Innermost first; a name that needs no demangling has no system name. */
	ck_assert_uint_eq(locations[0]->n_line, 2);
	ck_assert_int_eq(locations[0]->line[0]->line, 8);
	f = message->function[locations[0]->line[0]->function_id - 1];
	ck_assert_str_eq(string_at(message, f->name), "f<int>()");
	ck_assert_str_eq(string_at(message, f->system_name), "_Z1fIiE");
	ck_assert_str_eq(string_at(message, f->filename), "a.c");
	ck_assert_int_eq(f->start_line, 7);
	f = message->function[locations[0]->line[1]->function_id - 1];
	ck_assert_str_eq(string_at(message, f->name), "<lambda>");
	ck_assert_str_eq(string_at(message, f->system_name), "");
	f = message->function[locations[1]->line[0]->function_id - 1];
	ck_assert_str_eq(string_at(message, f->name), "[unknown]");
	perftools__profiles__profile__free_unpacked(message, NULL);
}
END_TEST

static void build_nothing(struct builder *builder)
{
	(void)builder;
}

static void build_deep(struct builder *builder)
{
	struct task task = {.pid = 1};
	uint32_t node = 0;

	builder_value_type(builder, "samples", "count");
	for (uint32_t i = 1; i <= 2000; i++)
		node = builder_node(builder, node, builder_location(builder, 0, UINT64_MAX - i));
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	builder_sample(builder, 0, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
}

START_TEST(survives_extremes)
{
	Perftools__Profiles__Profile *message = encoded(build_nothing);

	check_valid(message);
	ck_assert_uint_eq(message->n_sample, 0);
	perftools__profiles__profile__free_unpacked(message, NULL);
	message = encoded(build_deep);
	check_valid(message);
	ck_assert_uint_eq(message->sample[0]->n_location_id, 2000);
	ck_assert_uint_eq(message->sample[1]->n_location_id, 0);
	perftools__profiles__profile__free_unpacked(message, NULL);
}
END_TEST

START_TEST(finds_encoders)
{
	ck_assert_ptr_eq(encoder_find("pprof"), &encoder_pprof);
	ck_assert_ptr_eq(encoder_find("text"), &encoder_text);
	ck_assert_ptr_eq(encoder_find("folded"), &encoder_folded);
	ck_assert_ptr_null(encoder_find(""));
	ck_assert_ptr_null(encoder_find("pprof "));
	ck_assert_str_eq(encoder_pprof.content_type, "application/octet-stream");
	ck_assert_str_eq(encoder_pprof.suffix, ".pb.gz");
	for (size_t i = 0; encoders[i]; i++)
		ck_assert_ptr_eq(encoder_find(encoders[i]->name), encoders[i]);
}
END_TEST

Suite *pprof_suite(void)
{
	Suite *suite = suite_create("pprof");
	TCase *tests = tcase_create("pprof");

	tcase_add_test(tests, writes_everything);
	tcase_add_test(tests, says_which_value_is_shown);
	tcase_add_test(tests, writes_labels);
	tcase_add_test(tests, writes_names);
	tcase_add_test(tests, survives_extremes);
	tcase_add_test(tests, finds_encoders);
	suite_add_tcase(suite, tests);
	return suite;
}
