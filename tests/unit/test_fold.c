/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which stacks are folded when the history exceeds its memory. Each slice is one second.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "profile/builder.h"
#include "profile/fold.h"
#include "profile/recorder.h"
#include "profile/select.h"

#include <stdio.h>
#include <string.h>

enum {
	ROOT = 0,
	HERS = 1000,
	HIS = 1001,
	MAX_BYTES = 1 << 20,
	MANY = 2000, /* frames: 64 KB */
	FEW = 20,
};

static const struct recorder_limits limits = {
	.window_ns = 10 * NSEC_PER_SEC,
	.fine_ns = 20 * NSEC_PER_SEC,
	.keep_ns = 60 * NSEC_PER_SEC,
	.max_bytes = MAX_BYTES,
};

static uint64_t next_address;

/* Adds a tick of a thread, with a stack that no other tick has. */
static void add_stack(struct builder *builder, uint32_t account, uint32_t pid, const char *thread,
                      int frames)
{
	const struct task task = {
		.pid = pid,
		.tid = pid + 1,
		.comm = builder_text(builder, "program"),
		.thread = builder_text(builder, thread),
		.account = account,
	};
	uint32_t path = 0;

	while (frames-- > 0)
		path = builder_node(builder, path, builder_location(builder, 0, ++next_address));
	builder_sample(builder, path, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
}

static struct builder *begin(int second)
{
	struct builder *builder = builder_new();
	uint64_t start_ns = (uint64_t)second * NSEC_PER_SEC;

	builder_time(builder, start_ns, start_ns, NSEC_PER_SEC);
	builder_value_type(builder, "samples", "count");
	return builder;
}

static struct profile *seal(struct builder *builder)
{
	struct profile *slice;

	ck_assert_int_eq(builder_seal(builder, &slice), 0);
	builder_free(builder);
	return slice;
}

/* Adds a second of two users, or of one. */
static void add_second(struct recorder *recorder, int second, uint32_t account, int frames,
                       uint32_t other, int other_frames)
{
	struct builder *builder = begin(second);

	if (frames)
		add_stack(builder, account, account + 1, "t", frames);
	if (other_frames)
		add_stack(builder, other, other + 1, "t", other_frames);
	ck_assert_int_eq(recorder_add(recorder, seal(builder)), 0);
}

static struct recorder_stats stats_of(const struct recorder *recorder)
{
	struct recorder_stats stats;

	recorder_get_stats(recorder, &stats);
	return stats;
}

static bool is_folded(const struct profile *slice, uint32_t node)
{
	const struct location *location = &slice->locations[slice->nodes[node].location];

	return !strcmp(profile_string(slice, slice->mappings[location->mapping].path),
	               FOLDED_FRAME);
}

struct found {
	uint64_t samples, folded;
};

/* The samples of an account that are kept. */
static struct found found_of(struct recorder *recorder, uint32_t account)
{
	_cleanup_(slices_release) struct slices slices;
	struct found found = {0};

	ck_assert_int_eq(recorder_read(recorder, 0, UINT64_MAX, &slices), 0);
	for (size_t i = 0; i < slices.count; i++) {
		const struct profile *slice = slices.profiles[i];

		for (uint32_t at = 1; at < slice->sample_count; at++) {
			const struct sample *sample = &slice->samples[at];

			if (slice->tasks[sample->task].account != account)
				continue;
			found.samples += sample->values[0];
			found.folded += is_folded(slice, sample->node) ? sample->values[0] : 0;
		}
	}
	return found;
}

START_TEST(who_has_most_gives_way)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);
	struct found hers, his;

	for (int second = 0; second < 60; second++) {
		add_second(recorder, second, HIS, MANY, HERS, FEW);
		ck_assert_uint_le(stats_of(recorder).bytes, MAX_BYTES);
	}
	hers = found_of(recorder, HERS);
	his = found_of(recorder, HIS);
	ck_assert_uint_eq(hers.samples, 60);
	ck_assert_uint_eq(hers.folded, 0);
	/* The ticks of the larger account still count, and its latest stacks are kept while there
	 * is room. */
	ck_assert_uint_eq(his.samples, 60);
	ck_assert_uint_gt(his.folded, 40);
	ck_assert_uint_lt(his.folded, 50);
	ck_assert_uint_eq(stats_of(recorder).stacks_evicted, his.folded);
	ck_assert_uint_eq(stats_of(recorder).windows_evicted, 0);
	ck_assert_uint_eq(stats_of(recorder).samples_evicted, 0);
	ck_assert_uint_eq(stats_of(recorder).oldest_mono_ns, 0);
}
END_TEST

START_TEST(nothing_is_taken_while_there_is_room)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);

	for (int second = 0; second < 60; second++)
		add_second(recorder, second, HIS, MANY / 8, HERS, FEW);
	ck_assert_uint_gt(stats_of(recorder).bytes, MAX_BYTES / 3);
	ck_assert_uint_eq(found_of(recorder, HIS).folded, 0);
	ck_assert_uint_eq(stats_of(recorder).stacks_evicted, 0);
}
END_TEST

/* An account that is alone keeps as many stacks as root keeps whole slices. */
START_TEST(alone_he_has_all)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);
	_cleanup_(recorder_freep) struct recorder *roots = recorder_new(&limits);
	struct found his;

	for (int second = 0; second < 60; second++) {
		add_second(recorder, second, HIS, MANY, 0, 0);
		add_second(roots, second, ROOT, MANY, 0, 0);
	}
	his = found_of(recorder, HIS);
	ck_assert_uint_eq(his.samples, 60);
	ck_assert_uint_ge(his.samples - his.folded + 2, found_of(roots, ROOT).samples);
}
END_TEST

/* If root takes the most memory, windows are evicted as if there were no accounts. */
START_TEST(roots_are_not_folded)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);

	for (int second = 0; second < 60; second++)
		add_second(recorder, second, ROOT, MANY, HERS, FEW);
	ck_assert_uint_gt(stats_of(recorder).windows_evicted, 0);
	ck_assert_uint_eq(stats_of(recorder).stacks_evicted, 0);
	ck_assert_uint_eq(found_of(recorder, ROOT).samples, found_of(recorder, HERS).samples);
	ck_assert_uint_le(stats_of(recorder).bytes, MAX_BYTES);
}
END_TEST

/* Two accounts that both need much memory get half of it each. */
START_TEST(they_share)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);
	struct found hers, his;

	for (int second = 0; second < 60; second++)
		add_second(recorder, second, HIS, MANY, HERS, MANY / 2);
	hers = found_of(recorder, HERS);
	his = found_of(recorder, HIS);
	ck_assert_uint_eq(hers.samples + his.samples, 120);
	hers.samples -= hers.folded;
	his.samples -= his.folded;
	ck_assert_uint_gt(hers.samples, 14);
	ck_assert_uint_gt(his.samples, 6);
	ck_assert_uint_gt(hers.samples, his.samples);
}
END_TEST

/* One second of an account is larger than the whole bound. */
START_TEST(a_huge_slice)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);
	struct found his;

	for (int second = 0; second < 30; second++)
		add_second(recorder, second, HERS, FEW, HIS, second < 20 ? 0 : 32 * MANY);
	his = found_of(recorder, HIS);
	ck_assert_uint_eq(found_of(recorder, HERS).samples, 30);
	ck_assert_uint_eq(found_of(recorder, HERS).folded, 0);
	/* The newest slice is not folded, because a client may be waiting for it. */
	ck_assert_uint_eq(his.samples, 10);
	ck_assert_uint_eq(his.folded, 9);
}
END_TEST

START_TEST(less_memory)
{
	_cleanup_(recorder_freep) struct recorder *recorder = recorder_new(&limits);

	for (int second = 0; second < 60; second++)
		add_second(recorder, second, HIS, MANY / 4, HERS, FEW);
	recorder_resize(recorder, MAX_BYTES / 4);
	ck_assert_uint_le(stats_of(recorder).bytes, MAX_BYTES / 4);
	ck_assert_uint_eq(found_of(recorder, HERS).samples, 60);
	ck_assert_uint_eq(found_of(recorder, HERS).folded, 0);
	/* This is too little for both accounts, so the oldest samples are evicted. */
	recorder_resize(recorder, 4096);
	ck_assert_uint_gt(stats_of(recorder).samples_evicted, 0);
}
END_TEST

/* A program can make many names of threads, and many processes, as easily as stacks. */
START_TEST(names_are_folded_too)
{
	enum { TICKS = 1000 };
	struct builder *builder = begin(0);
	_cleanup_(profile_unrefp) struct profile *slice = NULL;
	struct profile *before;
	uint64_t samples = 0;
	char name[16];

	add_stack(builder, HERS, 7, "hers", FEW);
	for (uint32_t i = 0; i < TICKS; i++) {
		snprintf(name, sizeof(name), "thread %u", i);
		add_stack(builder, HIS, _i ? 100 + i : 100, name, FEW);
	}
	before = slice = seal(builder);
	profile_ref(before);
	ck_assert_uint_eq(fold(&slice, HIS), TICKS);
	for (uint32_t i = 1; i < slice->sample_count; i++)
		samples += slice->samples[i].values[0];
	ck_assert_uint_eq(samples, TICKS + 1);
	ck_assert_uint_eq(slice->task_count, 1 + 1 + (_i ? FOLDED_PROCESSES + 1 : 1));
	ck_assert_uint_eq(slice->node_count, 1 + FEW + 1);
	ck_assert_uint_lt(slice->memory_bytes, 1000 + (_i ? 10000 : 1000));
	ck_assert_uint_eq(slice->start_mono_ns, before->start_mono_ns);
	ck_assert_uint_eq(slice->duration_ns, before->duration_ns);
	profile_unref(before);
	/* Nothing is left to fold. */
	ck_assert_uint_eq(fold(&slice, HIS), 0);
	ck_assert_uint_eq(slice->task_count, 1 + 1 + (_i ? FOLDED_PROCESSES + 1 : 1));
}
END_TEST

START_TEST(all_of_a_slice_is_weighed)
{
	struct builder *builder = begin(0);
	_cleanup_(profile_unrefp) struct profile *slice = NULL;
	_cleanup_(weights_release) struct weights weights;
	size_t hers, his;

	add_stack(builder, HERS, 7, "a long name", FEW);
	add_stack(builder, HIS, 8, "his", MANY);
	slice = seal(builder);
	weights_find(slice, &weights);
	ck_assert_uint_eq(weights.count, 2);
	ck_assert_ptr_null(weights_of(&weights, ROOT));
	hers = weights_of(&weights, HERS)->bytes;
	his = weights_of(&weights, HIS)->bytes;
	ck_assert_uint_eq(his - hers,
	                  (MANY - FEW) * (sizeof(struct node) + sizeof(struct location)) -
	                          strlen("a long name") + strlen("his") - strlen("program") - 1 -
	                          sizeof(uint32_t));
	/* The memory that belongs to no account is small. */
	ck_assert_uint_le(hers + his, slice->memory_bytes);
	ck_assert_uint_lt(slice->memory_bytes, hers + his + 1000);
}
END_TEST

Suite *fold_suite(void)
{
	Suite *suite = suite_create("fold");
	TCase *tcase = tcase_create("fold");

	tcase_add_test(tcase, who_has_most_gives_way);
	tcase_add_test(tcase, nothing_is_taken_while_there_is_room);
	tcase_add_test(tcase, alone_he_has_all);
	tcase_add_test(tcase, roots_are_not_folded);
	tcase_add_test(tcase, they_share);
	tcase_add_test(tcase, a_huge_slice);
	tcase_add_test(tcase, less_memory);
	tcase_add_loop_test(tcase, names_are_folded_too, 0, 2);
	tcase_add_test(tcase, all_of_a_slice_is_weighed);
	suite_add_tcase(suite, tcase);
	return suite;
}
