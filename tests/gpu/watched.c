/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How each function is probed, and the resulting rows and events.
 */
#include "tests/gpu/watched.h"

#include "tests/gpu/driver.h"

#include <check.h>
#include <string.h>

enum { MAX_EVENTS = 512, RETURNS = GPU_SITE_RETURNS };

#define N GPU_NO_ARGUMENT
#define SITE(to, ...)                                                          \
	{                                                                      \
		.function = (void *)(to), .site = {__VA_ARGS__}, .is_thunk = 1 \
	}
#define PLAIN(to, ...)                                            \
	{                                                         \
		.function = (void *)(to), .site = { __VA_ARGS__ } \
	}
#define OF(name, at, a_, b_, ...) .role = GPU_##name, .call = at, .a = a_, .b = b_, __VA_ARGS__

const struct stage_site sites[] = {
	SITE(drv_alloc, OF(ALLOCATES, ALLOC, 0, 1, .flags = RETURNS)),
	SITE(drv_alloc_pitched, OF(ALLOCATES_PITCHED, PITCHED, 0, N, .flags = RETURNS)),
	SITE(drv_alloc_array,
             OF(ALLOCATES_ARRAY, ARRAY, 0, 1, .detail = GPU_MEMORY_ARRAY, .flags = RETURNS)),
	SITE(drv_alloc_array3d,
             OF(ALLOCATES_ARRAY3D, ARRAY3D, 0, 1, .detail = GPU_MEMORY_ARRAY, .flags = RETURNS)),
	SITE(drv_alloc_mipmaps,
             OF(ALLOCATES_MIPMAPS, MIPMAPS, 0, 1, .detail = GPU_MEMORY_ARRAY, .flags = RETURNS)),
	SITE(drv_alloc_physical, OF(ALLOCATES_PHYSICAL, PHYSICAL, 0, 1,
                                    .detail = GPU_MEMORY_PHYSICAL, .flags = RETURNS)),
	SITE(drv_register,
             OF(REGISTERS, REGISTER, 0, 1, .detail = GPU_MEMORY_REGISTERED, .flags = RETURNS)),
	SITE(drv_free, OF(FREES, FREE, 0, N, .flags = RETURNS)),
	SITE(drv_copy, OF(COPIES, COPY, N, 2, .detail = GPU_COPY_DEFAULT)),
	SITE(drv_copy_waits, OF(COPIES, COPY_WAITS, N, 2, .detail = GPU_COPY_D2H,
                                .flags = RETURNS | GPU_SITE_BLOCKS)),
	SITE(drv_copy_2d, OF(COPIES_2D, COPY_2D, 0, N, .detail = GPU_COPY_DEFAULT)),
	SITE(drv_copy_3d, OF(COPIES_3D, COPY_3D, 0, N, .detail = GPU_COPY_DEFAULT)),
	SITE(drv_copy_batch, OF(COPIES_BATCH, COPY_BATCH, 2, 3, .detail = GPU_COPY_DEFAULT)),
	SITE(drv_set, OF(SETS, SET, N, 2, .detail = GPU_COPY_SET, .size = 4)),
	SITE(drv_set_2d, OF(SETS_2D, SET_2D, N, 3, .detail = GPU_COPY_SET, .size = 2)),
	SITE(drv_launch, OF(LAUNCHES, LAUNCH, 0, 1)),
	SITE(drv_launch_config, OF(LAUNCHES_BY_CONFIG, LAUNCH_CONFIG, 0, 1)),
	SITE(drv_launch_graph, OF(LAUNCHES_GRAPH, LAUNCH_GRAPH, 0, N)),
	SITE(drv_wait, OF(WAITS, WAIT, N, N, .flags = RETURNS)),
	SITE(drv_wait_nests, OF(WAITS, WAIT_NESTS, N, N, .flags = RETURNS)),
	SITE(drv_wait_calls, OF(WAITS, WAIT_CALLS, N, N, .flags = RETURNS)),
	SITE(drv_get_function, OF(NAMES, GET_FUNCTION, 0, 2, .flags = RETURNS)),
	SITE(drv_get_again, OF(NAMES_AGAIN, GET_AGAIN, 0, 1, .flags = RETURNS)),
	SITE(drv_make_context,
             OF(MAKES_CONTEXT, MAKE_CONTEXT, 0, 2, .detail = 1, .flags = RETURNS)),
	SITE(drv_retain_context, OF(MAKES_CONTEXT, RETAIN_CONTEXT, 0, 1, .flags = RETURNS)),
	SITE(drv_set_context, OF(SETS_CONTEXT, SET_CONTEXT, 0, N)),
	SITE(drv_push_context, OF(PUSHES_CONTEXT, PUSH_CONTEXT, 0, N)),
	SITE(drv_pop_context, OF(POPS_CONTEXT, POP_CONTEXT, N, N)),
	SITE(drv_end_context,
             OF(ENDS_CONTEXT, END_CONTEXT, 0, N, .detail = GPU_END_CONTEXT, .flags = RETURNS)),
	SITE(drv_release_primary, OF(ENDS_CONTEXT, RELEASE_PRIMARY, 0, N,
                                     .detail = GPU_END_REFERENCE, .flags = RETURNS)),
	SITE(drv_reset_primary,
             OF(ENDS_CONTEXT, RESET_PRIMARY, 0, N, .detail = GPU_END_PRIMARY, .flags = RETURNS)),
	SITE(drv_map, OF(MAPS, MAP, 0, 1, .flags = RETURNS)),
	SITE(drv_unmap, OF(UNMAPS, UNMAP, 0, 1, .flags = RETURNS)),
	SITE(drv_retain_handle, OF(RETAINS, RETAIN_HANDLE, 0, N, .flags = RETURNS)),
	PLAIN(rt_copy, OF(TAGS, RT_COPY, 3, N)),
	PLAIN(rt_alloc, OF(TAGS, RT_ALLOC, N, N)),
	PLAIN(rt_alloc_wide, OF(TAGS, RT_ALLOC_WIDE, N, N)),
	PLAIN(fw_report, OF(REPORTS, REPORT, 0, 1)),
	PLAIN(fw_report_oom, OF(REPORTS_OOM, REPORT_OOM, 0, N)),
	PLAIN(fw_new, OF(ALLOCATES_TENSOR, NEW, 1, 2)),
	PLAIN(fw_delete, OF(FREES_TENSOR, DELETE, 1, N)),
};
const size_t site_count = sizeof(sites) / sizeof(sites[0]);

struct stage stage;
struct told events[MAX_EVENTS];
size_t event_count;
struct drained drained;

void keep_event(const struct gpu_event *event, void *ctx)
{
	struct told *told = &events[event_count];
	size_t bytes = event->words * 8u;

	(void)ctx;
	if (event_count == MAX_EVENTS)
		return;
	event_count++;
	told->event = *event;
	memcpy(told->behind, event + 1,
	       bytes < sizeof(told->behind) ? bytes : sizeof(told->behind));
}

void look(void)
{
	stage_drain(&stage, &drained);
	event_count = 0;
	stage_read(&stage);
	ck_assert_int_eq(drained.err, 0);
}

struct sum rows_of(enum profile_kind kind, uint8_t call)
{
	struct sum sum = {0};

	for (size_t i = 0; i < drained.gpu_count; i++) {
		const struct gpu_call_key *key = &drained.gpu_keys[i];

		if (key->kind != kind || key->call != call)
			continue;
		sum.rows++;
		sum.count += drained.gpu_calls[i].count;
		sum.value += drained.gpu_calls[i].value;
		sum.key = *key;
		sum.call = drained.gpu_calls[i];
	}
	return sum;
}

const struct told *event_of(enum gpu_event_kind kind, uint8_t call, size_t nth)
{
	for (size_t i = 0; i < event_count; i++)
		if (events[i].event.kind == kind && events[i].event.call == call && !nth--)
			return &events[i];
	return NULL;
}
