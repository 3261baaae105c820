/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of the kernel half about contexts and their ends, and about the holders of physical
 * memory, compared with the calls that were made.
 */
#include "base/clock.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/watched.h"

#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"

#include <bpf/bpf.h>
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

static const struct gpu_event *told(enum gpu_event_kind kind, uint8_t call, size_t nth)
{
	const struct told *found = event_of(kind, call, nth);

	ck_assert_ptr_nonnull(found);
	return &found->event;
}

/* Checks the context and the device of the nth allocation. */
static void check_where(size_t nth, uint64_t context, uint8_t device)
{
	const struct gpu_event *event = told(GPU_EVENT_ALLOC, ALLOC, nth);

	ck_assert_uint_eq(event->context, context);
	ck_assert_uint_eq(event->device, device);
}

START_TEST(allocations_are_in_contexts)
{
	uint64_t kept, made, gone, at;

	drv_set_context(0);
	drv_alloc(&at, 64);
	drv_retain_context(&kept, 1);
	drv_set_context(kept);
	drv_alloc(&at, 64);
	drv_make_context(&made, 0, 2);
	drv_alloc(&at, 64);
	drv_push_context(kept);
	drv_alloc(&at, 64);
	drv_pop_context(&gone);
	drv_alloc(&at, 64);
	drv_pop_context(&gone);
	drv_alloc(&at, 64);
	drv_set_context(0x999); /* a context that is not known */
	drv_alloc(&at, 64);
	drv_alloc_array(&at, (unsigned[6]){8, 0, 8, 0, 1, 1});
	look();
	check_where(0, 0, GPU_DEVICE_UNKNOWN);
	check_where(1, kept, 1);
	check_where(2, made, 2);
	check_where(3, kept, 1);
	check_where(4, made, 2);
	check_where(5, kept, 1);
	check_where(6, 0x999, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(told(GPU_EVENT_ALLOC, ARRAY, 0)->context, 0x999);
	ck_assert_uint_eq(told(GPU_EVENT_CONTEXT, RETAIN_CONTEXT, 0)->size, 1);
	ck_assert_uint_eq(told(GPU_EVENT_CONTEXT, MAKE_CONTEXT, 0)->size, 0);
}
END_TEST

/* A context that is pushed on top of more contexts than are remembered. */
START_TEST(deep)
{
	enum { DEEP = 40 };
	uint64_t contexts[DEEP], gone, at;

	drv_set_context(0);
	for (int i = 0; i < DEEP; i++)
		drv_make_context(&contexts[i], 0, i % 4);
	for (int i = 0; i < DEEP - 3; i++)
		drv_pop_context(&gone);
	drv_alloc(&at, 64);
	look();
	check_where(0, contexts[2], 2);
	for (int i = 0; i < 3; i++)
		drv_pop_context(&gone);
	for (int i = 0; i < DEEP; i++)
		drv_end_context(contexts[i]);
}
END_TEST

START_TEST(contexts_end)
{
	uint64_t below, made, gone, at, before_ns;

	drv_make_context(&below, 0, 1);
	drv_make_context(&made, 0, 2);
	before_ns = clock_mono_ns();
	drv_end_context(made);
	drv_alloc(&at, 64); /* in the context below */
	drv_end_context(0); /* fails */
	drv_end_context(made);
	drv_alloc(&at, 64);
	look();
	ck_assert_uint_eq(told(GPU_EVENT_ENDED, END_CONTEXT, 0)->address, made);
	ck_assert_uint_eq(told(GPU_EVENT_ENDED, END_CONTEXT, 0)->memory, GPU_END_CONTEXT);
	/* The event has the time at which the call started. */
	ck_assert_uint_ge(told(GPU_EVENT_ENDED, END_CONTEXT, 0)->time_ns, before_ns);
	ck_assert_uint_lt(told(GPU_EVENT_ENDED, END_CONTEXT, 0)->time_ns + 1000000,
	                  told(GPU_EVENT_ALLOC, ALLOC, 0)->time_ns);
	check_where(0, below, 1);
	check_where(1, below, 1);
	ck_assert_ptr_nonnull(event_of(GPU_EVENT_ENDED, END_CONTEXT, 1));
	ck_assert_ptr_null(event_of(GPU_EVENT_ENDED, END_CONTEXT, 2));
	drv_pop_context(&gone);
}
END_TEST

START_TEST(primary_contexts_end)
{
	uint64_t kept, at;

	drv_retain_context(&kept, 1);
	drv_set_context(kept);
	drv_release_primary(1);
	drv_release_primary(-1); /* fails */
	drv_reset_primary(3);
	drv_reset_primary(-1);
	/* The context comes back under the same handle. */
	drv_alloc(&at, 64);
	look();
	ck_assert_uint_eq(told(GPU_EVENT_ENDED, RELEASE_PRIMARY, 0)->memory, GPU_END_REFERENCE);
	ck_assert_uint_eq(told(GPU_EVENT_ENDED, RELEASE_PRIMARY, 0)->device, 1);
	ck_assert_uint_eq(told(GPU_EVENT_ENDED, RESET_PRIMARY, 0)->memory, GPU_END_PRIMARY);
	ck_assert_uint_eq(told(GPU_EVENT_ENDED, RESET_PRIMARY, 0)->device, 3);
	check_where(0, kept, 1);
	ck_assert_uint_eq(event_count, 4);
}
END_TEST

START_TEST(physical_memory)
{
	uint64_t handle, before_ns;

	drv_map(0x10000, 4096, 77, 0xabc, 0);
	drv_map(0x10000, 0, 0, 0xabc, 0); /* fails */
	before_ns = clock_mono_ns();
	drv_unmap(0x10000, 4096);
	drv_unmap(0x10000, 0);
	drv_retain_handle(&handle, 0xdef);
	drv_retain_handle(&handle, 0);
	look();
	ck_assert_uint_eq(event_count, 3);
	ck_assert_uint_eq(told(GPU_EVENT_MAPPED, MAP, 0)->address, 0x10000);
	ck_assert_uint_eq(told(GPU_EVENT_MAPPED, MAP, 0)->size, 4096);
	ck_assert_uint_eq(told(GPU_EVENT_MAPPED, MAP, 0)->handle, 0xabc);
	ck_assert_uint_le(told(GPU_EVENT_MAPPED, MAP, 0)->time_ns, before_ns);
	ck_assert_uint_eq(told(GPU_EVENT_UNMAPPED, UNMAP, 0)->address, 0x10000);
	ck_assert_uint_eq(told(GPU_EVENT_UNMAPPED, UNMAP, 0)->size, 4096);
	ck_assert_uint_ge(told(GPU_EVENT_UNMAPPED, UNMAP, 0)->time_ns, before_ns);
	ck_assert_uint_lt(told(GPU_EVENT_UNMAPPED, UNMAP, 0)->time_ns + 1000000,
	                  told(GPU_EVENT_RETAINED, RETAIN_HANDLE, 0)->time_ns);
	ck_assert_uint_eq(told(GPU_EVENT_RETAINED, RETAIN_HANDLE, 0)->address, 0xdef);
}
END_TEST

static struct gpu_counts counts(void)
{
	struct gpu_counts counts;

	ck_assert_int_eq(gpu_kernel_counts(&stage.kernel, &counts), 0);
	return counts;
}

/* The number of known entries of this process; keys start with the pid. */
static size_t known_of_us(void)
{
	int fd = bpf_map__fd(bpf_part(&stage.bpf, BPF_PART_GPU)->maps.gpu_known);
	uint32_t key[2];
	size_t known = 0;

	for (int err = bpf_map_get_next_key(fd, NULL, key); !err;
	     err = bpf_map_get_next_key(fd, key, key))
		known += key[0] == (uint32_t)getpid();
	return known;
}

/* A handle may be current before its context is made, as with NVIDIA's runtime. */
START_TEST(current_before_it_is_made)
{
	enum { HANDLES = 512 }; /* apart */
	uint64_t kept, later, at;

	drv_retain_context(&kept, 1);
	drv_set_context(kept + HANDLES);
	drv_retain_context(&later, 2);
	ck_assert_uint_eq(later, kept + HANDLES);
	drv_alloc(&at, 64);
	look();
	check_where(0, later, 2);
}
END_TEST

/* A process that keeps making contexts gets a bounded number of entries, and its last contexts are
 * known. */
START_TEST(many)
{
	enum { MANY = 300, ROOM = 64 };
	const struct gpu_counts before = counts();
	uint64_t made[MANY], gone, at;

	drv_set_context(0);
	for (int i = 0; i < MANY; i++) {
		drv_make_context(&made[i], 0, 3);
		drv_pop_context(&gone);
	}
	ck_assert_uint_gt(known_of_us(), ROOM / 2);
	ck_assert_uint_le(known_of_us(), ROOM);
	ck_assert_uint_ge(counts().known_lost - before.known_lost, MANY - ROOM);
	drv_set_context(made[MANY - 1]);
	drv_alloc(&at, 64);
	look();
	check_where(0, made[MANY - 1], 3);
	ck_assert_uint_eq(counts().contexts_unknown, before.contexts_unknown);
	drv_set_context(0x999);
	ck_assert_uint_eq(counts().contexts_unknown, before.contexts_unknown + 1);
	for (int i = 0; i < MANY; i++)
		drv_end_context(made[i]);
}
END_TEST

/* Contexts that have ended make room for others. */
START_TEST(one_after_the_other)
{
	const struct gpu_counts before = counts();
	uint64_t kept, made, at;

	drv_retain_context(&kept, 1);
	for (int i = 0; i < 200; i++) {
		drv_make_context(&made, 0, 2);
		drv_end_context(made);
	}
	drv_set_context(kept);
	drv_alloc(&at, 64);
	look();
	check_where(0, kept, 1);
	ck_assert_uint_eq(counts().known_lost, before.known_lost);
}
END_TEST

static int sessions;

static void attach(void)
{
	ck_assert_int_eq(stage_attach(&stage, sites, site_count, sessions), 0);
}

static Suite *suite(const char *name)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, attach, look);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, allocations_are_in_contexts);
	tcase_add_test(tcase, deep);
	tcase_add_test(tcase, current_before_it_is_made);
	tcase_add_test(tcase, contexts_end);
	tcase_add_test(tcase, primary_contexts_end);
	tcase_add_test(tcase, physical_memory);
	tcase_add_test(tcase, one_after_the_other);
	tcase_add_test(tcase, many);
	suite_add_tcase(suite, tcase);
	return suite;
}

static int run(const char *name)
{
	SRunner *runner = srunner_create(suite(name));
	int failed;

	/* A single process, which is the one that is probed. */
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed;
}

int main(void)
{
	int failed = 0;

	if (stage_open(&stage, keep_event, NULL))
		return EXIT_FAILURE;
	sessions = stage_attach(&stage, sites, site_count, 1) == 0;
	if (sessions)
		failed = run("contexts, by sessions");
	sessions = 0;
	failed += run("contexts, by entries and returns");
	stage_close(&stage);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
