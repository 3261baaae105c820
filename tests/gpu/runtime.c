/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of the shared object that stands in for CUDA's runtime and for a framework. These
 * functions start with a push.
 */
#include "tests/gpu/driver.h"

/* The runtime. */

__attribute__((noinline)) int rt_copy(uint64_t to, uint64_t from, uint64_t bytes, int kind)
{
	int result = drv_copy(to, from, bytes);

	__asm__ volatile("" ::"r"(kind));
	return result;
}

__attribute__((noinline)) int rt_alloc(uint64_t *to, uint64_t bytes)
{
	int result = drv_alloc(to, bytes);

	__asm__ volatile("" ::: "memory");
	return result;
}

/* Makes a further call of the runtime. */
__attribute__((noinline)) int rt_alloc_wide(uint64_t *to, uint64_t bytes)
{
	int result = rt_alloc(to, bytes * 2);

	__asm__ volatile("" ::: "memory");
	return result;
}

__attribute__((noinline)) int rt_launch(uint64_t function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned shared, uint64_t stream)
{
	__asm__ volatile("" ::"r"(grid_x), "r"(grid_y), "r"(grid_z), "r"(block_x), "r"(block_y));
	__asm__ volatile("" ::"r"(block_z), "r"(shared), "r"(stream));
	return function ? 0 : DRIVER_INVALID;
}

/* A framework. */

__attribute__((noinline)) void fw_report(uint64_t address, int64_t bytes, uint64_t allocated,
                                         uint64_t reserved, uint16_t device)
{
	__asm__ volatile("" ::"r"(address), "r"(bytes), "r"(allocated), "r"(reserved),
	                 "r"((int)device));
}

__attribute__((noinline)) void fw_report_oom(uint64_t bytes, uint64_t allocated, uint64_t reserved,
                                             uint16_t device)
{
	__asm__ volatile("" ::"r"(bytes), "r"(allocated), "r"(reserved), "r"((int)device));
}

__attribute__((noinline)) void fw_new(void *self, uint64_t address, uint64_t bytes)
{
	__asm__ volatile("" ::"r"(self), "r"(address), "r"(bytes));
}

__attribute__((noinline)) void fw_delete(void *self, uint64_t address)
{
	__asm__ volatile("" ::"r"(self), "r"(address));
}
