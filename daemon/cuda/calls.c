/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list as a table, and what follows from a role.
 */
#include "cuda/calls.h"

#include <string.h>

enum { NONE = GPU_NO_ARGUMENT, CURRENT = 1 };

/* Numbered in the order of the lists, from 1. */
enum {
	NO_CALL,
#define CALL(symbol, ...) CALL_##symbol,
	GPU_DRIVER_CALLS(CALL) GPU_RUNTIME_TAGS(CALL) GPU_TORCH_CALLS(CALL) GPU_XLA_CALLS(CALL)
#undef CALL
		CALL_COUNT
};
_Static_assert(CALL_COUNT <= UINT8_MAX, "a call is a byte of the cookie");

const uint8_t gpu_call_count = CALL_COUNT;

static const struct call {
	const char *symbol, *name;
	uint8_t library, role, a, b, detail, size, flags;
} calls[] = {
#define CALL(symbol, role, a, b, detail, size, flags) \
	{#symbol, #symbol, GPU_LIBRARY_DRIVER, GPU_##role, a, b, detail, size, flags},
#define TAG(symbol, kind) {#symbol, #symbol, GPU_LIBRARY_RUNTIME, GPU_TAGS, kind, NONE, 0, 0, 0},
#define NAMED(symbol, name, role, a, b) \
	{#symbol, name, GPU_LIBRARY_TORCH, GPU_##role, a, b, GPU_MEMORY_TENSOR, 0, 0},
#define CHUNK(symbol, name, role, a, b, attributes) \
	{#symbol, name, GPU_LIBRARY_XLA, GPU_##role, a, b, GPU_MEMORY_TENSOR, attributes, 0},
	[NO_CALL] = {"", "", 0, 0, NONE, NONE, 0, 0, 0},
	GPU_DRIVER_CALLS(CALL) GPU_RUNTIME_TAGS(TAG) GPU_TORCH_CALLS(NAMED) GPU_XLA_CALLS(CHUNK)
#undef CALL
#undef TAG
#undef NAMED
#undef CHUNK
};
_Static_assert(sizeof(calls) / sizeof(*calls) == CALL_COUNT, "one each");

static const struct call *call_of(uint8_t call)
{
	return &calls[call < CALL_COUNT ? call : NO_CALL];
}

const char *gpu_call_name(uint8_t call)
{
	return call_of(call)->name;
}

uint32_t gpu_call_library(uint8_t call)
{
	return call_of(call)->library;
}

/* The length of a name without the suffix for per-thread streams. */
static size_t plain_length(const char *symbol)
{
	static const char *const endings[] = {"_ptsz", "_ptds"};
	size_t len = strlen(symbol);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && !strcmp(symbol + len - ending, endings[i]))
			return len - ending;
	}
	return len;
}

/* A quick test: of a million symbols, most are only looked at here. */
static bool may_be_call(const char *symbol)
{
	static const char *const beginnings[] = {"cu", "_ZN3c10", "_ZN3tsl12BFC",
	                                         "_ZN15stream_executor27Gpu"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (!strncmp(symbol, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

uint8_t gpu_call_of(const char *symbol, uint32_t libraries, enum gpu_library *ret_library)
{
	size_t len;

	if (!may_be_call(symbol))
		return NO_CALL;
	len = plain_length(symbol);
	for (uint8_t i = NO_CALL + 1; i < CALL_COUNT; i++) {
		if (calls[i].library & libraries && !strncmp(calls[i].symbol, symbol, len) &&
		    !calls[i].symbol[len]) {
			*ret_library = calls[i].library;
			return i;
		}
	}
	return NO_CALL;
}

static bool wants_return(const struct call *call)
{
	switch (call->role) {
	case GPU_ALLOCATES:
	case GPU_ALLOCATES_PITCHED:
	case GPU_ALLOCATES_ARRAY:
	case GPU_ALLOCATES_ARRAY3D:
	case GPU_ALLOCATES_MIPMAPS:
	case GPU_ALLOCATES_PHYSICAL:
	case GPU_REGISTERS:
	case GPU_FREES:
	case GPU_MAPS:
	case GPU_UNMAPS:
	case GPU_RETAINS:
	case GPU_ENDS_CONTEXT:
	case GPU_WAITS:
	case GPU_NAMES:
	case GPU_NAMES_AGAIN:
	case GPU_MAKES_CONTEXT:
	case GPU_ALLOCATES_CHUNK:
		return true;
	default:
		return call->flags & GPU_SITE_BLOCKS;
	}
}

union gpu_site_cookie gpu_call_cookie(uint8_t number)
{
	const struct call *call = call_of(number);

	if (call == &calls[NO_CALL])
		return (union gpu_site_cookie){.cookie = 0};
	return (union gpu_site_cookie){
		.role = call->role,
		.a = call->a,
		.b = call->b,
		.detail = call->detail,
		.size = call->size,
		.flags = call->flags | (wants_return(call) ? GPU_SITE_RETURNS : 0),
		.call = number,
	};
}

/* The number of arguments up to the last one that the BPF programs read beside `a` and `b`:
 * bpf/gpu.h. */
static uint32_t arguments_besides(const struct call *call)
{
	switch (call->role) {
	case GPU_ALLOCATES_PITCHED:
		return call->a + 4U;
	case GPU_ALLOCATES_MIPMAPS:
	case GPU_ALLOCATES_PHYSICAL:
	case GPU_SETS_2D:
		return call->b + 2U;
	case GPU_MAPS:
		return call->b + 3U;
	case GPU_LAUNCHES: /* grid and block */
		return call->b == NONE ? 0 : call->b + 6U;
	case GPU_ALLOCATES_CHUNK:
		return call->size + 1U;
	case GPU_REPORTS:
		return 5;
	case GPU_REPORTS_OOM:
		return 4;
	default:
		return 0;
	}
}

uint32_t gpu_call_arguments(uint8_t number)
{
	const struct call *call = call_of(number);
	uint32_t count = arguments_besides(call);

	if (call->a != NONE && call->a >= count)
		count = call->a + 1U;
	if (call->b != NONE && call->b >= count)
		count = call->b + 1U;
	return count;
}

unsigned gpu_call_order(uint8_t call)
{
	switch (call_of(call)->role) {
	case GPU_MAKES_CONTEXT:
	case GPU_SETS_CONTEXT:
	case GPU_PUSHES_CONTEXT:
	case GPU_POPS_CONTEXT:
		return 0;
	case GPU_FREES:
	case GPU_MAPS:
	case GPU_UNMAPS:
	case GPU_RETAINS:
	case GPU_ENDS_CONTEXT:
	case GPU_FREES_TENSOR:
		return 1;
	default:
		return 2;
	}
}
