/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel half counts and tells of calls to a GPU, against what was called: every count and
 * every byte exactly, the time of waits within two percent of what the waits say of themselves.
 */
#include "base/clock.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/watched.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, STORM = 20000 };

static void check_alloc(uint8_t call, uint64_t address, uint64_t size, uint8_t memory)
{
	const struct told *told = event_of(GPU_EVENT_ALLOC, call, 0);

	ck_assert_ptr_nonnull(told);
	ck_assert_uint_eq(told->event.address, address);
	ck_assert_uint_eq(told->event.size, size);
	ck_assert_uint_eq(told->event.memory, memory);
	ck_assert_uint_eq(told->event.pid, (unsigned)getpid());
	ck_assert_uint_gt(told->event.words, 0);
}

START_TEST(launches)
{
	/* CUlaunchConfig: grid, block, bytes of shared memory, stream, attributes. */
	const unsigned config[14] = {7, 8, 9, 32, 4, 2};
	struct sum sum;

	for (int i = 0; i < 100; i++)
		drv_launch(0x1000, 10, 20, 30, 128, 2, 3, 0, 0);
	for (int i = 0; i < 10; i++)
		drv_launch_config(config, 0x2000);
	for (int i = 0; i < 5; i++)
		drv_launch_graph(0x3000, 0);
	look();
	HAS_ROW(gpu_launch, LAUNCH, 100, 100);
	sum = rows_of(KIND_gpu_launch, LAUNCH);
	ck_assert_uint_eq(sum.key.object, 0x1000);
	ck_assert_mem_eq(sum.key.grid, ((unsigned[]){10, 20, 30, 128, 2, 3}), 24);
	ck_assert_uint_eq(sum.key.tid, (unsigned)gettid());
	ck_assert_uint_eq(sum.call.pid, (unsigned)getpid());
	ck_assert_uint_ge(sum.call.stack, STACK_FIRST);
	HAS_ROW(gpu_launch, LAUNCH_CONFIG, 10, 10);
	sum = rows_of(KIND_gpu_launch, LAUNCH_CONFIG);
	ck_assert_uint_eq(sum.key.object, 0x2000);
	ck_assert_mem_eq(sum.key.grid, config, 24);
	HAS_ROW(gpu_launch, LAUNCH_GRAPH, 5, 5);
	ck_assert_uint_eq(rows_of(KIND_gpu_launch, LAUNCH_GRAPH).key.object, 0x3000);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches], 115);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches_lost], 0);
	/* All of that is in this half, and none of it in the next. */
	look();
	ck_assert_uint_eq(drained.gpu_count, 0);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches], 0);
}
END_TEST

START_TEST(copies)
{
	uint64_t copy_2d[16] = {[2] = 1, [9] = 2, [14] = 100, [15] = 30};
	uint64_t copy_3d[25] = {[4] = 2, [15] = 1, [22] = 10, [23] = 20, [24] = 30};
	const uint64_t sizes[20] = {1, 2, 3, [19] = 1000};
	uint64_t none[20] = {0};

	for (int i = 0; i < 40; i++)
		drv_copy(1, 2, 1000);
	drv_copy_2d(copy_2d);
	drv_copy_3d(copy_3d);
	drv_copy_batch(none, none, sizes, 20);
	drv_set(1, 0, 25);
	drv_set_2d(1, 0, 0, 30, 40);
	look();
	HAS_ROW(gpu_copy, COPY, 40, 40000);
	ck_assert_uint_eq(rows_of(KIND_gpu_copy, COPY).key.detail, GPU_COPY_DEFAULT);
	HAS_ROW(gpu_copy, COPY_2D, 1, 3000);
	ck_assert_uint_eq(rows_of(KIND_gpu_copy, COPY_2D).key.detail, GPU_COPY_H2D);
	HAS_ROW(gpu_copy, COPY_3D, 1, 6000);
	ck_assert_uint_eq(rows_of(KIND_gpu_copy, COPY_3D).key.detail, GPU_COPY_D2H);
	HAS_ROW(gpu_copy, COPY_BATCH, 1, 1006);
	HAS_ROW(gpu_copy, SET, 1, 100);
	HAS_ROW(gpu_copy, SET_2D, 1, 2400);
	ck_assert_uint_eq(rows_of(KIND_gpu_copy, SET_2D).key.detail, GPU_COPY_SET);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_copies], 45);
}
END_TEST

static void check_waited(enum call call, uint64_t times)
{
	const struct sum sum = rows_of(KIND_gpu_wait, call);

	ck_assert_uint_eq(sum.count, times);
	ck_assert_msg(sum.value > driver_waited_ns && sum.value < driver_waited_ns / 50 * 51,
	              "%llu ns, and it says %llu", (unsigned long long)sum.value,
	              (unsigned long long)driver_waited_ns);
}

START_TEST(waits)
{
	driver_waited_ns = 0;
	for (int i = 0; i < 30; i++)
		drv_wait(0);
	drv_wait(1); /* fails, after as long */
	look();
	check_waited(WAIT, 31);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_waits], 31);
	driver_waited_ns = 0;
	for (int i = 0; i < 20; i++)
		drv_copy_waits(1, 2, 500);
	drv_copy_waits(1, 2, 0); /* fails: no copy, but a wait */
	look();
	HAS_ROW(gpu_copy, COPY_WAITS, 20, 10000);
	check_waited(COPY_WAITS, 21);
}
END_TEST

START_TEST(nested)
{
	look();
	for (int i = 0; i < 10; i++)
		drv_wait_nests(0);
	look();
	ck_assert_uint_eq(rows_of(KIND_gpu_wait, WAIT_NESTS).count, 10);
	ck_assert_uint_eq(rows_of(KIND_gpu_wait, WAIT).count, 0);
	ck_assert_uint_eq(drained.gpu_count, 1);
	ck_assert_uint_eq(event_count, 0);
	/* And it is over. */
	drv_copy(1, 2, 3);
	look();
	HAS_ROW(gpu_copy, COPY, 1, 3);
}
END_TEST

START_TEST(memory)
{
	const unsigned array[6] = {100, 0, 50, 0, 0x20, 4};               /* 100 x 50 float4 */
	const unsigned array3d[10] = {16, 0, 16, 0, 4, 0, 0x02, 1, 0, 0}; /* 16-bit integers */
	const unsigned prop[8] = {1, 0, 1, 3};                            /* on device 3 */
	uint64_t at[7], pitch = 0;

	drv_alloc(&at[0], 4096);
	drv_alloc_pitched(&at[1], &pitch, 1000, 10);
	drv_alloc_array(&at[2], array);
	drv_alloc_array3d(&at[3], array3d);
	drv_alloc_mipmaps(&at[4], array3d, 3);
	drv_alloc_physical(&at[5], 2 << 20, prop, 0);
	drv_register(&pitch, 777, 0);
	drv_register(&pitch, 888, 1); /* fails */
	drv_free(at[0]);
	drv_free(at[0] | 1); /* fails */
	drv_free(0);
	look();
	check_alloc(ALLOC, at[0], 4096, GPU_MEMORY_DEVICE);
	check_alloc(PITCHED, at[1], 1024 * 10, GPU_MEMORY_DEVICE);
	check_alloc(ARRAY, at[2], 100 * 50 * 16, GPU_MEMORY_ARRAY);
	check_alloc(ARRAY3D, at[3], 16 * 16 * 4 * 2, GPU_MEMORY_ARRAY);
	check_alloc(MIPMAPS, at[4], (16 * 16 * 4 + 8 * 8 * 2 + 4 * 4) * 2, GPU_MEMORY_ARRAY);
	check_alloc(PHYSICAL, at[5], 2 << 20, GPU_MEMORY_PHYSICAL);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, PHYSICAL, 0)->event.device, 3);
	check_alloc(REGISTER, (uint64_t)(uintptr_t)&pitch, 777, GPU_MEMORY_REGISTERED);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, REGISTER, 0)->event.device, GPU_DEVICE_HOST);
	ck_assert_ptr_null(event_of(GPU_EVENT_ALLOC, REGISTER, 1));
	ck_assert_uint_eq(event_of(GPU_EVENT_FAILED, REGISTER, 0)->event.size, 888);
	ck_assert_uint_eq(event_of(GPU_EVENT_FREE, FREE, 0)->event.address, at[0]);
	ck_assert_ptr_null(event_of(GPU_EVENT_FREE, FREE, 1));
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_allocations], 7);
	ck_assert_uint_eq(event_count, 9);
}
END_TEST

START_TEST(out_of_memory)
{
	uint64_t at = 0, pitch = 0;
	const struct told *told;

	drv_alloc(&at, DRIVER_MEMORY + 1);
	drv_alloc_pitched(&at, &pitch, DRIVER_MEMORY, 2);
	look();
	told = event_of(GPU_EVENT_OOM, ALLOC, 0);
	ck_assert_ptr_nonnull(told);
	ck_assert_uint_eq(told->event.size, DRIVER_MEMORY + 1);
	ck_assert_uint_gt(told->event.words, 0);
	told = event_of(GPU_EVENT_OOM, PITCHED, 0);
	ck_assert_ptr_nonnull(told);
	ck_assert_uint_eq(told->event.size, DRIVER_MEMORY * 2);
	ck_assert_uint_eq(event_count, 2);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_allocations], 0);
}
END_TEST

START_TEST(tags)
{
	uint64_t at;

	rt_copy(1, 2, 100, GPU_COPY_H2D);
	drv_copy(1, 2, 100);
	rt_alloc(&at, 512);
	rt_alloc_wide(&at, 1024);
	drv_alloc(&at, 256);
	look();
	ck_assert_uint_eq(rows_of(KIND_gpu_copy, COPY).rows, 2);
	for (size_t i = 0; i < drained.gpu_count; i++) {
		const struct gpu_call_key *key = &drained.gpu_keys[i];

		ck_assert(key->via == RT_COPY ? key->detail == GPU_COPY_H2D
		                              : key->detail == GPU_COPY_DEFAULT && !key->via);
	}
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, ALLOC, 0)->event.via, RT_ALLOC);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, ALLOC, 1)->event.via, RT_ALLOC_WIDE);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, ALLOC, 1)->event.size, 2048);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, ALLOC, 2)->event.via, 0);
}
END_TEST

/* On which device the calls of a row are. */
static uint64_t launches_on(uint8_t device)
{
	uint64_t count = 0;

	for (size_t i = 0; i < drained.gpu_count; i++)
		if (drained.gpu_keys[i].kind == KIND_gpu_launch &&
		    drained.gpu_keys[i].device == device)
			count += drained.gpu_calls[i].count;
	return count;
}

static void launch_times(int times)
{
	for (int i = 0; i < times; i++)
		drv_launch(1, 1, 1, 1, 1, 1, 1, 0, 0);
}

static void *launch_before_context(void *ctx)
{
	const uint64_t *context = ctx;

	launch_times(7);
	drv_set_context(*context);
	launch_times(8);
	return NULL;
}

START_TEST(devices)
{
	uint64_t made, kept, gone, address;
	pthread_t thread;

	drv_retain_context(&kept, 1);
	drv_make_context(&made, 0, 0);
	launch_times(1); /* on 0: what is made is current */
	drv_push_context(kept);
	launch_times(2); /* on 1 */
	drv_alloc(&address, 64);
	drv_pop_context(&gone);
	launch_times(4); /* on 0 */
	drv_set_context(0x999);
	launch_times(16); /* who knows */
	drv_set_context(kept);
	launch_times(32); /* on 1 */
	ck_assert_int_eq(pthread_create(&thread, NULL, launch_before_context, &made), 0);
	pthread_join(thread, NULL);
	look();
	ck_assert_uint_eq(launches_on(0), 1 + 4 + 8);
	ck_assert_uint_eq(launches_on(1), 2 + 32);
	ck_assert_uint_eq(launches_on(GPU_DEVICE_UNKNOWN), 16 + 7);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, ALLOC, 0)->event.device, 1);
	ck_assert_uint_eq(event_of(GPU_EVENT_CONTEXT, RETAIN_CONTEXT, 0)->event.address, kept);
	ck_assert_uint_eq(event_of(GPU_EVENT_CONTEXT, RETAIN_CONTEXT, 0)->event.device, 1);
	ck_assert_uint_eq(event_of(GPU_EVENT_CONTEXT, MAKE_CONTEXT, 0)->event.address, made);
}
END_TEST

START_TEST(names)
{
	char longest[1000];
	uint64_t first, second, third;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	drv_get_function(&first, 0, "_Z4gemmPfS_");
	drv_get_function(&third, 0, "?");
	drv_get_again(&second, first);
	drv_get_function(&third, 0, longest);
	look();
	ck_assert_uint_eq(event_count, 3);
	ck_assert_uint_eq(events[0].event.kind, GPU_EVENT_NAME);
	ck_assert_uint_eq(events[0].event.address, first);
	ck_assert_uint_eq(events[0].event.words, 2);
	ck_assert_str_eq(events[0].behind, "_Z4gemmPfS_");
	ck_assert_uint_eq(events[1].event.kind, GPU_EVENT_ALIAS);
	ck_assert_uint_eq(events[1].event.address, second);
	ck_assert_uint_eq(events[1].event.size, first);
	ck_assert_uint_eq(events[2].event.address, third);
	ck_assert_uint_eq(strlen(events[2].behind), GPU_NAME_BYTES - 1);
}
END_TEST

START_TEST(tensors)
{
	fw_report(0x1000, 4096, 10000, 20000, 1 | 2 << 8);
	fw_report(0x1000, -4096, 5904, 20000, 1 | 2 << 8);
	fw_report(0x2000, 64, 1, 1, 0 | 0xff << 8); /* of the host, told otherwise */
	fw_report_oom(1 << 30, 5904, 20000, 1 | 2 << 8);
	fw_new(NULL, 0x3000, 100);
	fw_delete(NULL, 0x3000);
	look();
	ck_assert_uint_eq(event_count, 5);
	check_alloc(REPORT, 0x1000, 4096, GPU_MEMORY_TENSOR);
	ck_assert_uint_eq(events[0].event.layer, GPU_LAYER_TENSOR);
	ck_assert_uint_eq(events[0].event.device, 2);
	ck_assert_uint_eq(events[0].event.allocated, 10000);
	ck_assert_uint_eq(events[0].event.reserved, 20000);
	ck_assert_uint_eq(event_of(GPU_EVENT_FREE, REPORT, 0)->event.address, 0x1000);
	ck_assert_uint_eq(event_of(GPU_EVENT_OOM, REPORT_OOM, 0)->event.size, 1 << 30);
	check_alloc(NEW, 0x3000, 100, GPU_MEMORY_TENSOR);
	ck_assert_uint_eq(event_of(GPU_EVENT_ALLOC, NEW, 0)->event.device, GPU_DEVICE_HOST);
	ck_assert_uint_eq(event_of(GPU_EVENT_FREE, DELETE, 0)->event.address, 0x3000);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_tensors], 2);
}
END_TEST

static void *storm(void *ctx)
{
	const uintptr_t function = (uintptr_t)ctx;

	for (int i = 0; i < STORM; i++) {
		drv_launch(function, 1, 1, 1, 1, 1, 1, 0, 0);
		drv_copy(1, 2, 10);
	}
	return NULL;
}

/* While the half is flipped again and again, several threads on each CPU, not one call is lost and
 * none is counted twice. */
START_TEST(none_is_lost)
{
	pthread_t threads[THREADS];
	uint64_t launched[THREADS] = {0}, copied = 0, counted = 0;
	struct gpu_counts before, after;

	gpu_kernel_counts(&stage.kernel, &before);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, storm, (void *)(i + 1));
	for (int look_at = 0; look_at < 40; look_at++) {
		if (look_at == 39)
			for (int i = 0; i < THREADS; i++)
				pthread_join(threads[i], NULL);
		else
			usleep(3000);
		look();
		for (size_t i = 0; i < drained.gpu_count; i++) {
			const struct gpu_call_key *key = &drained.gpu_keys[i];

			if (key->kind == KIND_gpu_copy)
				copied += drained.gpu_calls[i].value;
			else if (key->object >= 1 && key->object <= THREADS)
				launched[key->object - 1] += drained.gpu_calls[i].count;
		}
		counted += drained.counters.values[COUNTER_gpu_launches];
	}
	gpu_kernel_counts(&stage.kernel, &after);
	for (int i = 0; i < THREADS; i++)
		ck_assert_uint_eq(launched[i], STORM);
	ck_assert_uint_eq(copied, THREADS * STORM * 10);
	ck_assert_uint_eq(counted, THREADS * STORM);
	ck_assert_uint_eq(after.hits - before.hits, THREADS * STORM * 2);
	ck_assert_uint_eq(after.rows_lost, before.rows_lost);
	/* Not many are walked. */
	ck_assert_uint_lt(after.walked - before.walked, THREADS * STORM / 5);
}
END_TEST

/* More shapes than there are rows. */
START_TEST(crowded)
{
	for (unsigned i = 0; i < GPU_CALLS_ROWS * 2; i++)
		drv_launch(5, i + 1, 1, 1, 1, 1, 1, 0, 0);
	look();
	HAS_ROW(gpu_launch, LAUNCH, GPU_CALLS_ROWS * 2, GPU_CALLS_ROWS * 2);
	ck_assert_uint_le(drained.gpu_count, GPU_CALLS_ROWS);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches_lost], 0);
	look();
	ck_assert_uint_eq(drained.gpu_count, 0);
}
END_TEST

/* More objects than there are rows: what is not counted is said. */
START_TEST(full)
{
	struct sum sum;

	for (unsigned i = 0; i < GPU_CALLS_ROWS + 100; i++)
		drv_launch(i + 1, 1, 1, 1, 1, 1, 1, 0, 0);
	look();
	sum = rows_of(KIND_gpu_launch, LAUNCH);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches], sum.count);
	ck_assert_uint_gt(drained.counters.values[COUNTER_gpu_launches_lost], 0);
	ck_assert_uint_eq(sum.count + drained.counters.values[COUNTER_gpu_launches_lost],
	                  GPU_CALLS_ROWS + 100);
}
END_TEST

static int sessions;

static void attach(void)
{
	ck_assert_int_eq(stage_attach(&stage, sites, site_count, sessions), 0);
}

static Suite *suite(const char *name, void (*set_up)(void))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, set_up, look);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, launches);
	tcase_add_test(tcase, copies);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, nested);
	tcase_add_test(tcase, memory);
	tcase_add_test(tcase, out_of_memory);
	tcase_add_test(tcase, tags);
	tcase_add_test(tcase, devices);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, tensors);
	tcase_add_test(tcase, none_is_lost);
	tcase_add_test(tcase, crowded);
	tcase_add_test(tcase, full);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	if (stage_open(&stage, keep_event, NULL))
		return EXIT_FAILURE;
	/* One process, which is the one that is probed. */
	srunner_set_fork_status(runner, CK_NOFORK);
	sessions = stage_attach(&stage, sites, site_count, 1) == 0;
	srunner_add_suite(runner, suite(sessions ? "sessions" : "entries and returns", attach));
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	if (sessions) {
		SRunner *again = srunner_create(suite("entries and returns", attach));

		sessions = 0;
		srunner_set_fork_status(again, CK_NOFORK);
		srunner_run_all(again, CK_ENV);
		failed += srunner_ntests_failed(again);
		srunner_free(again);
	}
	srunner_free(runner);
	stage_close(&stage);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
