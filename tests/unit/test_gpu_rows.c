/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows of launches, copies and waits, as samples and in the figures of their process.
 */
#include "gpu/gpu_rows.h"

#include "base/clock.h"
#include "cuda/calls.h"
#include "gpu/gpu_events.h"
#include "ingest/source.h"
#include "profile/kernel_place.h"
#include "tests/unit/suites.h"

#include <string.h>

enum {
	PID = 4000001, /* above the kernel's default limit: no process has it */
	CODE = 0x1000,
	IMAGE = 7,
	STACK = STACK_FIRST + 5, /* of one frame, CODE + 1 */
};

static struct drain_tables tables;
static struct drain_losses losses;
static struct gpu_feeds *feeds;
static struct gpu_events *events;
static struct gpu_call_key key;
static struct gpu_call calls;
static struct builder *builder;
static uint64_t found;

static void set_up(void)
{
	static const struct file_key no_file;

	tables.store = store_new(16);
	tables.procs = procs_new(tables.store);
	procs_exec(tables.procs, PID, "train", 100);
	procs_mmap(tables.procs, PID, CODE, 0x9000, 0, &no_file, "/no/such/file");
	feeds = gpu_feeds_new(&(struct gpu_feeds_config){.tables = tables});
	events = gpu_events_new(&(struct gpu_events_config){.feeds = feeds, .tables = tables});
	key = (struct gpu_call_key){.tid = PID, .image = IMAGE, .device = 1, .stack = STACK};
	calls = (struct gpu_call){.pid = PID,
	                          .last_ns = 1000,
	                          .count = 3,
	                          .value = 3,
	                          .thread = "worker",
	                          .user = 1000};
	builder = builder_new();
}

static void tear_down(void)
{
	builder_free(builder);
	gpu_events_free(events);
	gpu_feeds_free(feeds);
	procs_free(tables.procs);
	store_free(tables.store);
}

/* Adds the row; returns its only sample. */
static const struct sample *add(enum profile_kind kind)
{
	static const struct stack_node node = {.len = 1, .frames = {CODE + 1}};
	static const u64 node_key = STACK;
	const struct drained drained = {
		.stack_keys = &node_key,
		.stacks = &node,
		.stack_count = 1,
		.gpu_keys = &key,
		.gpu_calls = &calls,
		.gpu_count = 1,
	};

	struct half half = {.drained = &drained, .tables = &tables, .losses = &losses};

	key.kind = (u16)kind;
	ck_assert_int_eq(stack_index_build(&half.index, &drained), 0);
	gpu_rows_add(&half, feeds, kind, builder, &found);
	stack_index_release(&half.index);
	ck_assert_int_eq(builder_error(builder), 0);
	ck_assert_uint_eq(found, calls.count);
	ck_assert_uint_eq(builder_view(builder)->sample_count, 2);
	return &builder_view(builder)->samples[1];
}

static const char *text(uint32_t string)
{
	return profile_string(builder_view(builder), string);
}

static const struct task *task_of(const struct sample *sample)
{
	return &builder_view(builder)->tasks[sample->task];
}

/* The location of the frame that is this number of callers above the leaf. */
static const struct location *location_of(const struct sample *sample, int above)
{
	const struct profile *profile = builder_view(builder);
	uint32_t node = sample->node;

	while (above--)
		node = profile->nodes[node].parent;
	ck_assert_uint_ne(node, 0);
	return &profile->locations[profile->nodes[node].location];
}

static const char *mapping_of(const struct location *location)
{
	return text(builder_view(builder)->mappings[location->mapping].path);
}

static const struct function *function_of(const struct location *location)
{
	const struct profile *profile = builder_view(builder);

	ck_assert_uint_eq(location->line_count, 1);
	return &profile->functions[profile->lines[location->first_line].function];
}

/* The first call with this role. */
static uint8_t call_of(enum gpu_role role)
{
	for (uint8_t call = 1; call <= gpu_call_count; call++)
		if (gpu_call_cookie(call).role == role)
			return call;
	ck_abort_msg("no call has the role %d", role);
	return 0;
}

static struct gpu_figures figures;

static int take_figures(const struct gpu_figures *taken, void *ctx)
{
	(void)ctx;
	figures = *taken;
	return 0;
}

START_TEST(launch_with_a_name)
{
	const struct sample *sample;
	const struct function *function;
	struct {
		struct gpu_event event;
		char name[16];
	} record = {
		.event = {.kind = GPU_EVENT_NAME,
	                  .pid = PID,
	                  .image = IMAGE,
	                  .address = 0xabc,
	                  .words = 2,
	                  .time_ns = 900},
		.name = "_Z3addPfi",
	};

	gpu_events_take(events, &record, sizeof(record));
	key.object = 0xabc;
	key.call = call_of(GPU_LAUNCHES);
	memcpy(key.grid, (u32[]){128, 1, 1}, sizeof(key.grid));
	memcpy(key.block, (u32[]){32, 4, 1}, sizeof(key.block));
	sample = add(KIND_gpu_launch);
	ck_assert_uint_eq(sample->values[0], 3);
	ck_assert_uint_eq(sample->values[1], 0);
	ck_assert_str_eq(mapping_of(location_of(sample, 0)), KERNEL_MAPPING);
	function = function_of(location_of(sample, 0));
	ck_assert_str_eq(text(function->name), "_Z3addPfi");
	ck_assert_uint_eq(function->system_name, 0);
	ck_assert_uint_eq(location_of(sample, 1)->address, 1);
	ck_assert_str_eq(text(task_of(sample)->kernel), "_Z3addPfi");
	ck_assert_str_eq(text(task_of(sample)->grid), "128x1x1");
	ck_assert_str_eq(text(task_of(sample)->block), "32x4x1");
	ck_assert_str_eq(text(task_of(sample)->device), "1");
	ck_assert_str_eq(text(task_of(sample)->call), gpu_call_name(key.call));
	ck_assert_str_eq(text(task_of(sample)->comm), "train");
	ck_assert_str_eq(text(task_of(sample)->thread), "worker");
	ck_assert_uint_eq(task_of(sample)->account, 1000);
	gpu_feeds_drained(feeds, NSEC_PER_SEC / 2);
	gpu_feeds_each(feeds, take_figures, NULL);
	ck_assert_uint_eq(figures.launches, 3);
	ck_assert_double_eq(figures.launches_s, 6);
	gpu_feeds_drained(feeds, NSEC_PER_SEC);
	gpu_feeds_each(feeds, take_figures, NULL);
	ck_assert_uint_eq(figures.launches, 3);
	ck_assert_double_eq(figures.launches_s, 0);
}
END_TEST

START_TEST(launches_without_one)
{
	const struct sample *sample;

	key.object = 0xabc;
	key.call = call_of(GPU_LAUNCHES);
	sample = add(KIND_gpu_launch);
	ck_assert_str_eq(text(task_of(sample)->kernel), "<kernel 0xabc>");
	ck_assert_str_eq(text(function_of(location_of(sample, 0))->name), "<kernel 0xabc>");
	ck_assert_uint_eq(function_of(location_of(sample, 0))->system_name, 0);
	ck_assert_uint_eq(task_of(sample)->grid, 0);
}
END_TEST

START_TEST(graph)
{
	key.object = 0xabc;
	key.call = call_of(GPU_LAUNCHES_GRAPH);
	ck_assert_str_eq(text(task_of(add(KIND_gpu_launch))->kernel), "<graph 0xabc>");
}
END_TEST

START_TEST(copy)
{
	const struct sample *sample;

	key.detail = GPU_COPY_D2H;
	key.call = call_of(GPU_COPIES);
	key.via = call_of(GPU_TAGS);
	calls.value = 4096;
	sample = add(KIND_gpu_copy);
	ck_assert_uint_eq(sample->values[0], 3);
	ck_assert_uint_eq(sample->values[1], 4096);
	ck_assert_str_eq(text(task_of(sample)->direction), "DtoH");
	ck_assert_str_eq(text(task_of(sample)->call), gpu_call_name(key.via));
	ck_assert_uint_eq(task_of(sample)->kernel, 0);
	gpu_feeds_drained(feeds, NSEC_PER_SEC * 2);
	gpu_feeds_each(feeds, take_figures, NULL);
	ck_assert_uint_eq(figures.copies[GPU_COPY_D2H], 3);
	ck_assert_uint_eq(figures.copied_bytes[GPU_COPY_D2H], 4096);
	ck_assert_double_eq(figures.copied_bytes_s[GPU_COPY_D2H], 2048);
}
END_TEST

START_TEST(wait)
{
	calls.value = NSEC_PER_SEC / 4;
	ck_assert_uint_eq(add(KIND_gpu_wait)->values[1], NSEC_PER_SEC / 4);
	gpu_feeds_drained(feeds, NSEC_PER_SEC);
	gpu_feeds_each(feeds, take_figures, NULL);
	ck_assert_uint_eq(figures.waits, 3);
	ck_assert_double_eq(figures.waits_share, 0.25);
}
END_TEST

/* A row that is still being counted has its stack in the value. */
START_TEST(current_stack)
{
	key.stack = STACK_NONE;
	calls.stack = STACK;
	ck_assert_uint_eq(location_of(add(KIND_gpu_wait), 0)->address, 1);
}
END_TEST

START_TEST(no_stack)
{
	key.stack = STACK_NONE;
	ck_assert_str_eq(mapping_of(location_of(add(KIND_gpu_wait), 0)), "[stack not taken]");
}
END_TEST

START_TEST(hostile)
{
	memset(&key, 0xff, sizeof(key));
	calls.pid = UINT32_MAX;
	ck_assert_uint_eq(task_of(add(KIND_gpu_copy))->direction, 0);
}
END_TEST

Suite *gpu_rows_suite(void)
{
	Suite *suite = suite_create("gpu_rows");
	TCase *tcase = tcase_create("gpu_rows");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, launch_with_a_name);
	tcase_add_test(tcase, launches_without_one);
	tcase_add_test(tcase, graph);
	tcase_add_test(tcase, copy);
	tcase_add_test(tcase, wait);
	tcase_add_test(tcase, current_stack);
	tcase_add_test(tcase, no_stack);
	tcase_add_test(tcase, hostile);
	suite_add_tcase(suite, tcase);
	return suite;
}
