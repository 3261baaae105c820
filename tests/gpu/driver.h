/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of driver.c and runtime.c: one for each role in bpf/gpu.h. They return 0, or a
 * result code of CUDA.
 */
#pragma once

#include <stdint.h>

enum {
	DRIVER_INVALID = 1,
	DRIVER_NO_MEMORY = 2,
};
#define DRIVER_MEMORY (1ULL << 40) /* more memory does not exist */

int drv_alloc(uint64_t *to, uint64_t bytes);
int drv_alloc_pitched(uint64_t *to, uint64_t *pitch, uint64_t width, uint64_t height);
int drv_alloc_array(uint64_t *to, const void *descriptor);
int drv_alloc_array3d(uint64_t *to, const void *descriptor);
int drv_alloc_mipmaps(uint64_t *to, const void *descriptor, unsigned levels);
int drv_alloc_physical(uint64_t *to, uint64_t bytes, const void *prop, uint64_t flags);
int drv_register(void *address, uint64_t bytes, unsigned flags); /* fails with flags */
int drv_free(uint64_t address);                                  /* fails for odd addresses */
/* These fail for 0 bytes. */
int drv_copy(uint64_t to, uint64_t from, uint64_t bytes);
int drv_copy_waits(uint64_t to, uint64_t from, uint64_t bytes);
int drv_copy_2d(const void *what);
int drv_copy_3d(const void *what);
int drv_copy_batch(uint64_t *to, uint64_t *from, const uint64_t *sizes, uint64_t count);
int drv_set(uint64_t to, unsigned value, uint64_t count);
int drv_set_2d(uint64_t to, uint64_t pitch, unsigned value, uint64_t width, uint64_t height);
int drv_launch(uint64_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
               uint64_t stream);
int drv_launch_config(const void *config, uint64_t function);
int drv_launch_graph(uint64_t graph, uint64_t stream);
int drv_wait(uint64_t stream);
/* Waits, and meanwhile copies, launches, waits and allocates. */
int drv_wait_nests(uint64_t stream);
int drv_wait_calls(void (*callback)(void *ctx), void *ctx);
int drv_get_function(uint64_t *to, uint64_t module, const char *name); /* fails for "?..." */
int drv_get_again(uint64_t *to, uint64_t function);
int drv_make_context(uint64_t *to, unsigned flags, int device);
int drv_retain_context(uint64_t *to, int device);
int drv_set_context(uint64_t context);
int drv_push_context(uint64_t context);
int drv_pop_context(uint64_t *to);
/* These fail for context 0 and devices below 0. */
int drv_end_context(uint64_t context);
int drv_release_primary(int device);
int drv_reset_primary(int device);
/* These fail for 0 bytes. */
int drv_map(uint64_t address, uint64_t bytes, uint64_t offset, uint64_t handle, uint64_t flags);
int drv_unmap(uint64_t address, uint64_t bytes);
int drv_retain_handle(uint64_t *to, uint64_t address); /* the address, as handle; fails for 0 */

extern uint64_t driver_waited_ns; /* time in all waits, as measured inside them */

int rt_copy(uint64_t to, uint64_t from, uint64_t bytes, int kind);
int rt_alloc(uint64_t *to, uint64_t bytes);
int rt_alloc_wide(uint64_t *to, uint64_t bytes); /* allocates twice as much, by rt_alloc() */
/* Does nothing itself; its code starts with a push. */
int rt_launch(uint64_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
              uint64_t stream);

void fw_report(uint64_t address, int64_t bytes, uint64_t allocated, uint64_t reserved,
               uint16_t device);
void fw_report_oom(uint64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device);
void fw_new(void *self, uint64_t address, uint64_t bytes);
void fw_delete(void *self, uint64_t address);
