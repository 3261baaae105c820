/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traces for Perfetto, decoded packet by packet.
 */
#include "tests/unit/gunzip.h"
#include "tests/unit/suites.h"

#include "encode/encoder.h"
#include "profile/builder.h"
#include "proto/perfetto_trace.pb-c.h"

#include <string.h>

enum { MAX_PLAIN_BYTES = 1 << 20, MAX_ROWS = 64 };

typedef void build_fn(struct builder *builder);

/* A decoded trace: interned items by number, all other items in their order. */
struct told {
	Perfetto__Protos__Trace *trace;
	const Perfetto__Protos__InternedString *names[MAX_ROWS], *sources[MAX_ROWS];
	const Perfetto__Protos__Frame *frames[MAX_ROWS];
	const Perfetto__Protos__Callstack *callstacks[MAX_ROWS];
	const Perfetto__Protos__TracePacket *samples[MAX_ROWS];
	size_t sample_count;
	const Perfetto__Protos__ProcessTree__Process *processes[MAX_ROWS];
	const Perfetto__Protos__ProcessTree__Thread *threads[MAX_ROWS];
	size_t process_count, thread_count;
};

static Perfetto__Protos__Trace *encoded(build_fn *build)
{
	static uint8_t plain[MAX_PLAIN_BYTES];
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {0};
	size_t length;

	build(builder);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(encoder_find("perfetto")->encode(profile, &options, &out), 0);
	length = gunzip(&out, plain, sizeof(plain));
	return perfetto__protos__trace__unpack(NULL, length, plain);
}

static void take(struct told *told, const Perfetto__Protos__TracePacket *packet)
{
	const Perfetto__Protos__InternedData *data = packet->interned_data;

	for (size_t i = 0; data && i < data->n_function_names; i++)
		told->names[data->function_names[i]->iid] = data->function_names[i];
	for (size_t i = 0; data && i < data->n_source_paths; i++)
		told->sources[data->source_paths[i]->iid] = data->source_paths[i];
	for (size_t i = 0; data && i < data->n_frames; i++)
		told->frames[data->frames[i]->iid] = data->frames[i];
	for (size_t i = 0; data && i < data->n_callstacks; i++)
		told->callstacks[data->callstacks[i]->iid] = data->callstacks[i];
	if (packet->process_tree && packet->process_tree->n_processes)
		told->processes[told->process_count++] = packet->process_tree->processes[0];
	if (packet->process_tree && packet->process_tree->n_threads)
		told->threads[told->thread_count++] = packet->process_tree->threads[0];
	if (packet->stack_sample)
		told->samples[told->sample_count++] = packet;
}

static struct told read_back(build_fn *build)
{
	struct told told = {.trace = encoded(build)};

	ck_assert_ptr_nonnull(told.trace);
	for (size_t i = 0; i < told.trace->n_packet; i++) {
		ck_assert_uint_eq(told.trace->packet[i]->trusted_packet_sequence_id, 1);
		ck_assert_uint_eq(told.trace->packet[i]->sequence_flags, i ? 2 : 3);
		take(&told, told.trace->packet[i]);
	}
	return told;
}

static void forget(struct told *told)
{
	perfetto__protos__trace__free_unpacked(told->trace, NULL);
}

static void check_frame(const struct told *told, uint64_t iid, const char *name, const char *source,
                        uint32_t line)
{
	const Perfetto__Protos__Frame *frame = told->frames[iid];
	const Perfetto__Protos__InternedString *text = told->names[frame->function_name_id];

	ck_assert_mem_eq(text->str.data, name, strlen(name));
	ck_assert_uint_eq(text->str.len, strlen(name));
	ck_assert_uint_eq(frame->line_number, line);
	ck_assert_int_eq(frame->has_source_path_iid, source != NULL);
	if (source)
		ck_assert_mem_eq(told->sources[frame->source_path_iid]->str.data, source,
		                 strlen(source));
}

static uint32_t function(struct builder *builder, const char *name)
{
	return builder_function(builder,
	                        &(struct function){.name = builder_text(builder, name),
	                                           .filename = builder_text(builder, "a.c")});
}

/* main -> caller with an inlined call -> code without a name, twice, a second apart; then the same
 * path as another program in the same process. */
static void build_calls(struct builder *builder)
{
	struct mapping file = {.path = builder_text(builder, "/bin/a")};
	uint32_t mapping, main_at, inlined_at, node;
	struct task task = {.pid = 7, .tid = 8, .parent = 5};

	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_time(builder, 1000 * 1000, 2000 * 1000, 3000ull * 1000 * 1000);
	mapping = builder_mapping(builder, &file);
	main_at = builder_location(builder, mapping, 0x10);
	builder_line(builder, main_at, function(builder, "main"), 3);
	inlined_at = builder_location(builder, mapping, 0x20);
	builder_line(builder, inlined_at, function(builder, "in\xff"), 5);
	builder_line(builder, inlined_at, function(builder, "caller"), 9);
	node = builder_node(builder, 0, main_at);
	node = builder_node(builder, node, inlined_at);
	node = builder_node(builder, node, builder_location(builder, mapping, 0x30));
	task.comm = task.thread = builder_text(builder, "before");
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[]){1, 10, 0, 0});
	task.comm = task.thread = builder_text(builder, "after");
	task.at_ms = 1000;
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[]){2, 20, 0, 0});
}

START_TEST(writes_call_paths)
{
	struct told told = read_back(build_calls);
	const Perfetto__Protos__Callstack *callstack;

	ck_assert_uint_eq(told.sample_count, 2);
	callstack = told.callstacks[told.samples[0]->stack_sample->callstack_iid];
	ck_assert_uint_eq(callstack->n_frame_ids, 4);
	check_frame(&told, callstack->frame_ids[0], "main", "a.c", 3);
	check_frame(&told, callstack->frame_ids[1], "caller", "a.c", 9);
	check_frame(&told, callstack->frame_ids[2], "in\xef\xbf\xbd", "a.c", 5);
	check_frame(&told, callstack->frame_ids[3], "[unknown]", NULL, 0);
	forget(&told);
}
END_TEST

START_TEST(writes_weights_and_times)
{
	struct told told = read_back(build_calls);

	for (size_t i = 0; i < 2; i++) {
		const Perfetto__Protos__StackSample *sample = told.samples[i]->stack_sample;

		ck_assert_uint_eq(sample->primary_weight, (i + 1) * 10);
		ck_assert_uint_eq(sample->n_follower_weights, 1);
		ck_assert_uint_eq(sample->follower_weights[0], i + 1);
		ck_assert_uint_eq(sample->task_context->pid, 7);
		ck_assert_uint_eq(sample->task_context->tid, 8);
		ck_assert_uint_eq(told.samples[i]->timestamp,
		                  1000 * 1000 + i * 1000ull * 1000 * 1000);
	}
	forget(&told);
}
END_TEST

/* Two threads of a program that then becomes another program, in the thread with the lowest id. */
static void build_exec(struct builder *builder)
{
	uint32_t mapping = builder_mapping(builder, &(struct mapping){0});
	uint32_t node = builder_node(builder, 0, builder_location(builder, mapping, 0x10));
	struct task task = {.pid = 7, .tid = 9, .parent = 5};

	task.comm = builder_text(builder, "before");
	task.thread = builder_text(builder, "worker");
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	task.tid = 7;
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	task.at_ms = 1000;
	task.comm = builder_text(builder, "Web Content");
	task.thread = builder_text(builder, "main");
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	builder_sample(builder, node, builder_task(builder, &(struct task){0}),
	               (uint64_t[PROFILE_VALUES]){1});
}

START_TEST(tells_the_last_names)
{
	struct told told = read_back(build_exec);

	ck_assert_uint_eq(told.process_count, 1);
	ck_assert_str_eq(told.processes[0]->cmdline[0], "Web Content");
	ck_assert_uint_eq(told.processes[0]->n_cmdline, 2);
	ck_assert_int_eq(told.processes[0]->ppid, 5);
	ck_assert_uint_eq(told.thread_count, 3);
	ck_assert_int_eq(told.threads[1]->tid, 7);
	ck_assert_int_eq(told.threads[1]->tgid, 7);
	ck_assert_str_eq(told.threads[1]->name, "main");
	ck_assert_str_eq(told.threads[2]->name, "worker");
	forget(&told);
}
END_TEST

START_TEST(tells_processes_before_their_threads)
{
	struct told told = read_back(build_calls);
	bool process_told = false;

	for (size_t i = 0; i < told.trace->n_packet; i++) {
		const Perfetto__Protos__ProcessTree *tree = told.trace->packet[i]->process_tree;

		process_told |= tree && tree->n_processes;
		ck_assert(!tree || !tree->n_threads || process_told);
	}
	ck_assert_str_eq(told.processes[0]->cmdline[0], "after");
	ck_assert(told.processes[0]->cmdline_is_comm);
	forget(&told);
}
END_TEST

static void build_nothing(struct builder *builder)
{
	(void)builder;
}

/* The empty path, and no value types. */
static void build_empty_path(struct builder *builder)
{
	builder_sample(builder, 0, 0, (uint64_t[PROFILE_VALUES]){0});
}

START_TEST(survives_nothing)
{
	struct told told = read_back(build_nothing);

	ck_assert_uint_eq(told.sample_count, 0);
	forget(&told);
	told = read_back(build_empty_path);
	ck_assert_uint_eq(told.sample_count, 1);
	ck_assert(!told.samples[0]->stack_sample->has_callstack_iid);
	ck_assert(!told.samples[0]->stack_sample->has_primary_weight);
	forget(&told);
}
END_TEST

/* Of an earlier boot: Perfetto drops times below 0. */
static void build_before_boot(struct builder *builder)
{
	build_calls(builder);
	builder_time(builder, (uint64_t)-5000, 2000 * 1000, 3000ull * 1000 * 1000);
}

START_TEST(a_time_before_the_boot_is_that_of_the_wall_clock)
{
	struct told told = read_back(build_before_boot);
	enum { REALTIME = 1 };

	for (size_t i = 0; i < told.trace->n_packet; i++) {
		const Perfetto__Protos__TracePacket *packet = told.trace->packet[i];

		if (packet->trace_packet_defaults)
			ck_assert_uint_eq(packet->trace_packet_defaults->timestamp_clock_id,
			                  REALTIME);
		if (packet->clock_snapshot)
			ck_assert_uint_eq(packet->clock_snapshot->primary_trace_clock, REALTIME);
	}
	ck_assert_uint_eq(told.samples[0]->timestamp, 2000 * 1000);
	ck_assert_uint_eq(told.samples[1]->timestamp, 2000 * 1000 + 1000ull * 1000 * 1000);
	forget(&told);
}
END_TEST

Suite *perfetto_suite(void)
{
	Suite *suite = suite_create("perfetto");
	TCase *tests = tcase_create("perfetto");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, writes_call_paths);
	tcase_add_test(tests, a_time_before_the_boot_is_that_of_the_wall_clock);
	tcase_add_test(tests, writes_weights_and_times);
	tcase_add_test(tests, tells_the_last_names);
	tcase_add_test(tests, tells_processes_before_their_threads);
	tcase_add_test(tests, survives_nothing);
	return suite;
}
