/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in's functions with a probe on each, and the counts and events of their calls. For one
 * thread; the calls may be made by any thread.
 */
#pragma once

#include "tests/gpu/stage.h"

#include <stddef.h>
#include <stdint.h>

/* A name for each function in cookies, rows and events. */
enum call {
	CALL_NONE,
	ALLOC,
	PITCHED,
	ARRAY,
	ARRAY3D,
	MIPMAPS,
	PHYSICAL,
	REGISTER,
	FREE,
	COPY,
	COPY_WAITS,
	COPY_2D,
	COPY_3D,
	COPY_BATCH,
	SET,
	SET_2D,
	LAUNCH,
	LAUNCH_CONFIG,
	LAUNCH_GRAPH,
	WAIT,
	WAIT_NESTS,
	WAIT_CALLS,
	GET_FUNCTION,
	GET_AGAIN,
	MAKE_CONTEXT,
	RETAIN_CONTEXT,
	SET_CONTEXT,
	PUSH_CONTEXT,
	POP_CONTEXT,
	END_CONTEXT,
	RELEASE_PRIMARY,
	RESET_PRIMARY,
	MAP,
	UNMAP,
	RETAIN_HANDLE,
	RT_COPY,
	RT_ALLOC,
	RT_ALLOC_WIDE,
	REPORT,
	REPORT_OOM,
	NEW,
	DELETE,
	CALLS
};

/* An event, with the beginning of the bytes that follow it. */
struct told {
	struct gpu_event event;
	char behind[GPU_NAME_BYTES];
};

struct sum {
	uint64_t rows, count, value;
	struct gpu_call_key key; /* of one of the rows */
	struct gpu_call call;
};

extern struct stage stage;
extern struct drained drained; /* as of look() */
extern struct told events[];   /* the same */
extern size_t event_count;
extern const struct stage_site sites[];
extern const size_t site_count;

/* The callback for stage_open(). */
void keep_event(const struct gpu_event *event, void *ctx);
/* Collects everything that was counted and reported since the last call. */
void look(void);
/* The rows of a function's calls, added up. */
struct sum rows_of(enum profile_kind kind, uint8_t call);
/* The nth event of that kind and call; NULL: there are fewer. */
const struct told *event_of(enum gpu_event_kind kind, uint8_t call, size_t nth);

#define HAS_ROW(kind, call, times, amount)                          \
	do {                                                        \
		const struct sum sum_ = rows_of(KIND_##kind, call); \
		ck_assert_uint_eq(sum_.count, times);               \
		ck_assert_uint_eq(sum_.value, amount);              \
	} while (0)
