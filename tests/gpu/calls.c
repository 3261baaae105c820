/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Launches, copies and waits: all are counted, and the time of waits lies between the time measured
 * inside them and the time measured by their caller; on which device, and by which function of the
 * runtime.
 */
#include "base/clock.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/watched.h"

#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

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
	/* All calls are in this half, and none in the next. */
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

/* The counted time is at least what the driver measured inside its calls, and at most what was
 * measured around them. The difference is some microseconds, and more only when the thread lost its
 * CPU in between. */
static void check_waited(enum call call, uint64_t times, uint64_t around_ns)
{
	const struct sum sum = rows_of(KIND_gpu_wait, call);

	ck_assert_uint_eq(sum.count, times);
	ck_assert_msg(sum.value > driver_waited_ns && sum.value < around_ns,
	              "%llu ns, inside of the calls it is %llu, around them %llu",
	              (unsigned long long)sum.value, (unsigned long long)driver_waited_ns,
	              (unsigned long long)around_ns);
}

START_TEST(waits)
{
	uint64_t begin_ns = clock_mono_ns();

	driver_waited_ns = 0;
	for (int i = 0; i < 30; i++)
		drv_wait(0);
	drv_wait(1); /* fails after the same time */
	uint64_t around_ns = clock_mono_ns() - begin_ns;
	look();
	check_waited(WAIT, 31, around_ns);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_waits], 31);
	driver_waited_ns = 0;
	begin_ns = clock_mono_ns();
	for (int i = 0; i < 20; i++)
		drv_copy_waits(1, 2, 500);
	drv_copy_waits(1, 2, 0); /* fails: no copy, but a wait */
	around_ns = clock_mono_ns() - begin_ns;
	look();
	HAS_ROW(gpu_copy, COPY_WAITS, 20, 10000);
	check_waited(COPY_WAITS, 21, around_ns);
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
	/* The nested call is over. */
	drv_copy(1, 2, 3);
	look();
	HAS_ROW(gpu_copy, COPY, 1, 3);
}
END_TEST

static jmp_buf back;

static void jump_back(void *ctx)
{
	(void)ctx;
	longjmp(back, 1);
}

/* Calls with more on the stack than there was at the call that was left by a jump. */
static __attribute__((noinline)) void call_deeper(void)
{
	volatile char room[8192];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
	drv_copy(1, 2, 3);
	drv_wait(0);
	room[0] = 1; /* otherwise the last call would be a jump */
}

/* A call that was left by longjmp() is over, also for later calls that are deeper on the stack. */
START_TEST(left_by_a_jump)
{
	struct gpu_counts before, after;

	gpu_kernel_counts(&stage.kernel, &before);
	for (int i = 0; i < 5; i++) {
		if (!setjmp(back))
			drv_wait_calls(jump_back, NULL);
		call_deeper();
	}
	look();
	gpu_kernel_counts(&stage.kernel, &after);
	ck_assert_uint_eq(rows_of(KIND_gpu_wait, WAIT_CALLS).count, 0);
	HAS_ROW(gpu_copy, COPY, 5, 15);
	ck_assert_uint_eq(rows_of(KIND_gpu_wait, WAIT).count, 5);
	ck_assert_uint_eq(after.returns_lost - before.returns_lost, 5);
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

/* The number of launches that were counted for a device. */
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
	launch_times(1); /* on 0: a new context is current */
	drv_push_context(kept);
	launch_times(2); /* on 1 */
	drv_alloc(&address, 64);
	drv_pop_context(&gone);
	launch_times(4); /* on 0 */
	drv_set_context(0x999);
	launch_times(16); /* on an unknown device */
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

TCase *calls_case(void)
{
	TCase *tcase = tcase_create("calls");

	tcase_add_test(tcase, launches);
	tcase_add_test(tcase, copies);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, nested);
	tcase_add_test(tcase, left_by_a_jump);
	tcase_add_test(tcase, tags);
	tcase_add_test(tcase, devices);
	return tcase;
}
