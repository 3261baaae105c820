/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which time a capture covers, and which slices it takes. The kernel half is memory of this test,
 * and is always quiet; each drain records one sample.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "capture/capture.h"
#include "collect/collector_private.h"

#include "bpf/profd.skel.h"

#include <stdlib.h>
#include <string.h>

static const struct recorder_limits ample = {
	.window_ns = 10 * NSEC_PER_SEC,
	.keep_ns = 600 * NSEC_PER_SEC,
	.fine_ns = 600 * NSEC_PER_SEC,
	.max_bytes = 1 << 30,
};

static struct {
	uv_loop_t loop;
	struct profd_bpf skeleton;
	struct profd_bpf__bss bss;
	bool quiet[1];
	struct collector *collector;
	struct history *history;
	struct capture capture;
	int calls, error;
	uint64_t first_end_ns; /* of the first slice */
} all;

static struct profile *slice_of(enum profile_kind kind)
{
	const struct heartbeat *heartbeat = &all.collector->heartbeat;
	struct builder *builder = builder_new();
	struct profile *slice = NULL;
	struct task task = {.pid = 1};

	source_describe(sources[kind], 1, builder);
	builder_time(builder, heartbeat->start_mono_ns, heartbeat->start_wall_ns,
	             heartbeat->end_mono_ns - heartbeat->start_mono_ns);
	builder_sample(builder, builder_node(builder, 0, builder_location(builder, 0, 1)),
	               builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	ck_assert_int_eq(builder_seal(builder, &slice), 0);
	builder_free(builder);
	return slice;
}

/* Waits are not recorded yet at the first time. */
static void drain(void *ctx)
{
	struct profile *slices[KIND_COUNT] = {[KIND_cpu] = slice_of(KIND_cpu)};

	(void)ctx;
	if (all.first_end_ns)
		slices[KIND_offcpu] = slice_of(KIND_offcpu);
	ck_assert_int_eq(history_add(all.history, slices), 0);
	if (!all.first_end_ns)
		all.first_end_ns = all.collector->heartbeat.end_mono_ns;
}

static void done(struct capture *capture, int err)
{
	ck_assert_ptr_eq(capture, &all.capture);
	all.calls++;
	all.error = err;
}

static void start(void)
{
	uint32_t shares[KIND_COUNT] = {[KIND_cpu] = 1, [KIND_offcpu] = 1};

	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	all.skeleton.bss = &all.bss;
	all.history = history_new(&ample, shares, KIND_COUNT, 2);
	all.collector = calloc(1, sizeof(*all.collector));
	all.collector->bpf =
		(struct bpf){.skeleton = &all.skeleton, .cpu_limit = 1, .quiet = all.quiet};
	all.collector->states[KIND_cpu] = (struct source_state){.on = true, .event = "a test"};
	all.collector->heartbeat = (struct heartbeat){.bpf = &all.collector->bpf, .drain = drain};
	heartbeat_init(&all.collector->heartbeat, &all.loop);
	heartbeat_begin(&all.collector->heartbeat);
	ck_assert_int_eq(heartbeat_start(&all.collector->heartbeat), 0);
	all.capture.from =
		(struct capture_from){.collector = all.collector, .history = all.history};
	all.capture.done = done;
}

static void stop(void)
{
	capture_release(&all.capture);
	heartbeat_stop(&all.collector->heartbeat);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	history_free(all.history);
	free(all.collector);
}

static void run_until_called(void)
{
	uint64_t end = clock_mono_ns() + 5 * NSEC_PER_SEC;

	while (!all.calls && clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_int_eq(all.calls, 1);
	ck_assert_int_eq(all.error, 0);
}

static void run_until_recorded(void)
{
	while (!all.first_end_ns)
		uv_run(&all.loop, UV_RUN_ONCE);
}

/* The slices [first, end) follow each other from the beginning of the range to its end. */
static void assert_follow(size_t first, size_t end, uint64_t from_mono_ns, uint64_t to_mono_ns)
{
	const struct slices *slices = &all.capture.slices;
	uint64_t at = from_mono_ns;

	ck_assert_uint_gt(end, first);
	for (size_t i = first; i < end; i++) {
		ck_assert_uint_eq(slices->profiles[i]->start_mono_ns, at);
		at += slices->profiles[i]->duration_ns;
	}
	ck_assert_uint_eq(at, to_mono_ns);
}

static void assert_whole(uint64_t from_mono_ns, uint64_t to_mono_ns)
{
	assert_follow(0, all.capture.slices.count, from_mono_ns, to_mono_ns);
}

/* Slices of waits, and then of CPU time, each of the whole range. */
static void assert_both(uint64_t from_mono_ns, uint64_t to_mono_ns)
{
	const struct capture *capture = &all.capture;
	size_t half = capture->slices.count / 2;

	ck_assert_uint_eq(capture->second_count, half);
	ck_assert_uint_eq(capture->slices.count, 2 * half);
	assert_follow(0, half, from_mono_ns, to_mono_ns);
	assert_follow(half, 2 * half, from_mono_ns, to_mono_ns);
	for (size_t i = 0; i < 2 * half; i++)
		ck_assert_str_eq(profile_string(capture->slices.profiles[i],
		                                capture->slices.profiles[i]->period_type.type),
		                 sources[i < half ? KIND_offcpu : KIND_cpu]->name);
	ck_assert_uint_eq(capture->facts.gap_ns, 0);
}

START_TEST(the_next_time_is_exact)
{
	const uint64_t length_ns = 300 * NSEC_PER_MSEC, asked_ns = clock_mono_ns();
	const struct capture *capture = &all.capture;

	all.capture.ask = (struct capture_ask){.range = RANGE_NEXT, .length_ns = length_ns};
	capture_start(&all.capture);
	run_until_called();
	ck_assert_uint_ge(capture->from_mono_ns, asked_ns);
	ck_assert_uint_ge(capture->to_mono_ns - capture->from_mono_ns, length_ns);
	ck_assert(capture->ends_now);
	assert_whole(capture->from_mono_ns, capture->to_mono_ns);
}
END_TEST

START_TEST(all_time_of_threads_is_of_both)
{
	const struct capture *capture = &all.capture;
	const bool is_next = _i == 0;

	run_until_recorded();
	all.capture.ask = (struct capture_ask){
		.kind = KIND_offcpu,
		.range = is_next ? RANGE_NEXT : RANGE_LAST,
		.length_ns = is_next ? 300 * NSEC_PER_MSEC : 100 * NSEC_PER_SEC,
		.selection = {.view = VIEW_wall},
	};
	capture_start(&all.capture);
	run_until_called();
	/* In the past, only the time of which both are kept counts. */
	assert_both(is_next ? capture->from_mono_ns : all.first_end_ns, capture->to_mono_ns);
}
END_TEST

START_TEST(the_last_time_ends_after_the_question)
{
	run_until_recorded();
	const uint64_t asked_ns = clock_mono_ns();
	const struct capture *capture = &all.capture;

	all.capture.ask =
		(struct capture_ask){.range = RANGE_LAST, .length_ns = 600 * NSEC_PER_SEC};
	capture_start(&all.capture);
	run_until_called();
	ck_assert_uint_ge(capture->to_mono_ns, asked_ns);
	ck_assert(capture->ends_now);
	assert_whole(capture->slices.profiles[0]->start_mono_ns, capture->to_mono_ns);
}
END_TEST

START_TEST(a_time_that_is_over_waits_for_no_boundary)
{
	const uint64_t now_ns = clock_wall_ns();

	run_until_recorded();
	all.capture.ask = (struct capture_ask){.range = RANGE_BETWEEN,
	                                       .from_unix_ns = now_ns - 20 * NSEC_PER_SEC,
	                                       .to_unix_ns = now_ns - 10 * NSEC_PER_SEC};
	capture_start(&all.capture);
	ck_assert_int_eq(all.calls, 1);
	ck_assert_int_eq(all.error, 0);
	ck_assert(!all.capture.ends_now);
	ck_assert_uint_eq(all.capture.slices.count, 0);
	ck_assert(all.capture.facts.empty);
}
END_TEST

START_TEST(a_time_that_ends_in_the_future_ends_now)
{
	const uint64_t now_ns = clock_wall_ns();

	run_until_recorded();
	all.capture.ask = (struct capture_ask){.range = RANGE_BETWEEN,
	                                       .from_unix_ns = now_ns - 10 * NSEC_PER_SEC,
	                                       .to_unix_ns = now_ns + 600 * NSEC_PER_SEC};
	capture_start(&all.capture);
	run_until_called();
	ck_assert_uint_le(all.capture.to_mono_ns, clock_mono_ns());
	ck_assert(all.capture.ends_now);
	assert_whole(all.capture.slices.profiles[0]->start_mono_ns, all.capture.to_mono_ns);
}
END_TEST

START_TEST(who_cancels_is_not_told)
{
	/* Before the first boundary, and between the two. */
	uint64_t end = clock_mono_ns() + (_i ? 200 : 0) * NSEC_PER_MSEC;

	all.capture.ask =
		(struct capture_ask){.range = RANGE_NEXT, .length_ns = 400 * NSEC_PER_MSEC};
	capture_start(&all.capture);
	while (clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert(all.capture.begun == !!_i);
	capture_cancel(&all.capture);
	capture_release(&all.capture);
	end = clock_mono_ns() + 600 * NSEC_PER_MSEC;
	while (clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_int_eq(all.calls, 0);
}
END_TEST

START_TEST(the_plan_has_what_was_captured)
{
	struct render_plan plan = {0};

	all.capture.ask =
		(struct capture_ask){.range = RANGE_LAST, .length_ns = 600 * NSEC_PER_SEC};
	capture_start(&all.capture);
	run_until_called();
	capture_plan(&all.capture, &plan);
	ck_assert_uint_eq(plan.slice_count, all.capture.slices.count);
	ck_assert_ptr_eq(plan.slices, all.capture.slices.profiles);
	ck_assert_ptr_eq(plan.selection, &all.capture.ask.selection);
	const struct capture_facts *facts = plan.ctx;
	ck_assert_str_eq(facts->source.name, "cpu");
	ck_assert_str_eq(facts->source.event, "a test");
	ck_assert(facts->source.on);
	ck_assert(!facts->empty);
}
END_TEST

Suite *capture_suite(void)
{
	Suite *suite = suite_create("capture");
	TCase *tcase = tcase_create("capture");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_loop_test(tcase, all_time_of_threads_is_of_both, 0, 2);
	tcase_add_test(tcase, the_next_time_is_exact);
	tcase_add_test(tcase, the_last_time_ends_after_the_question);
	tcase_add_test(tcase, a_time_that_is_over_waits_for_no_boundary);
	tcase_add_test(tcase, a_time_that_ends_in_the_future_ends_now);
	tcase_add_loop_test(tcase, who_cancels_is_not_told, 0, 2);
	tcase_add_test(tcase, the_plan_has_what_was_captured);
	tcase_set_timeout(tcase, 20);
	suite_add_tcase(suite, tcase);
	return suite;
}
