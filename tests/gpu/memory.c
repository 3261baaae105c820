/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Events about memory, exact to the byte, and about names.
 */
#include "tests/gpu/cases.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/watched.h"

#include <string.h>
#include <unistd.h>

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
	fw_report(0x2000, 64, 1, 1, 0 | 0xff << 8); /* host memory, which other calls report */
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

TCase *memory_case(void)
{
	TCase *tcase = tcase_create("memory");

	tcase_add_test(tcase, memory);
	tcase_add_test(tcase, out_of_memory);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, tensors);
	return tcase;
}
