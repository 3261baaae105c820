/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arguments of CUDA's functions: those on the stack, and the structures to which some point. The
 * layouts and names are those of cuda.h of CUDA 12. They are part of its ABI: a function whose
 * structure changes gets a new suffix.
 */
#pragma once

#include "bpf/call.bpf.h"
#include "bpf/gpu/gpu_maps.bpf.h"

static __always_inline u64 read_u64(u64 at)
{
	u64 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)at))
		GPU_ADD(unreadable);
	return value;
}

static __always_inline u32 read_u32(u64 at)
{
	u32 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)at))
		GPU_ADD(unreadable);
	return value;
}

/* The address of an argument that is in no register. */
static __always_inline u64 argument_on_stack(u64 frame, u8 number)
{
	return frame + (number - REGISTER_ARGUMENTS) * sizeof(u64);
}

static __always_inline u64 argument_any(const volatile struct pt_regs *regs, u64 frame, u8 number)
{
	if (number == GPU_NO_ARGUMENT)
		return 0;
	if (number >= REGISTER_ARGUMENTS)
		return read_u64(argument_on_stack(frame, number));
	return argument(regs, number);
}

static __always_inline u64 at_least_1(u64 value)
{
	return value ? value : 1;
}

/* CUarray_format: bytes of a channel. Block-compressed formats have one byte a texel, or half a
 * byte. */
static __always_inline u64 channel_bytes(u32 format)
{
	switch (format) {
	case 0x02: /* UNSIGNED_INT16 */
	case 0x09: /* SIGNED_INT16 */
	case 0x10: /* HALF */
		return 2;
	case 0x03: /* UNSIGNED_INT32 */
	case 0x0a: /* SIGNED_INT32 */
	case 0x20: /* FLOAT */
		return 4;
	}
	return 1;
}

struct array_shape {
	u64 width, height, depth, texel_bytes;
	u32 layered; /* mipmap levels do not shrink the depth */
};

/* CUDA_ARRAY_DESCRIPTOR_v2, 24 bytes: Width 0, Height 8, Format 16, NumChannels 20. */
static __always_inline struct array_shape read_array(u64 at)
{
	return (struct array_shape){
		.width = read_u64(at),
		.height = at_least_1(read_u64(at + 8)),
		.depth = 1,
		.texel_bytes = channel_bytes(read_u32(at + 16)) * read_u32(at + 20),
	};
}

/* CUDA_ARRAY3D_DESCRIPTOR_v2, 40 bytes: Width 0, Height 8, Depth 16, Format 24, NumChannels 28,
 * Flags 32, of which CUDA_ARRAY3D_LAYERED is 1. */
static __always_inline struct array_shape read_array3d(u64 at)
{
	return (struct array_shape){
		.width = read_u64(at),
		.height = at_least_1(read_u64(at + 8)),
		.depth = at_least_1(read_u64(at + 16)),
		.texel_bytes = channel_bytes(read_u32(at + 24)) * read_u32(at + 28),
		.layered = read_u32(at + 32) & 1,
	};
}

struct level_sum {
	struct array_shape shape;
	u64 bytes;
	u32 levels;
};

static long add_level(u32 level, void *context)
{
	struct level_sum *sum = context;
	const struct array_shape *shape = &sum->shape;
	u64 depth = shape->layered ? shape->depth : at_least_1(shape->depth >> (level & 63));

	if (level >= sum->levels)
		return 1;
	sum->bytes += at_least_1(shape->width >> (level & 63)) *
	              at_least_1(shape->height >> (level & 63)) * depth * shape->texel_bytes;
	return 0;
}

enum { GPU_MIPMAP_LEVELS = 32 };

/* Bytes of an array, from a descriptor of either kind. Not inline: the caller's stack is nearly
 * full. */
static __noinline u64 array_bytes(u64 at, u32 levels, u32 is_3d)
{
	struct level_sum sum = {
		.shape = is_3d ? read_array3d(at) : read_array(at),
		.levels = levels,
	};

	bpf_loop(GPU_MIPMAP_LEVELS, add_level, &sum, 0);
	return sum.bytes;
}

/* CUmemAllocationProp: at byte 8 is a CUmemLocation, its type and then its id.
 * CU_MEM_LOCATION_TYPE_DEVICE is 1; the other types are the host's. */
static __always_inline u8 read_location(u64 at)
{
	u32 type = read_u32(at + 8);

	if (type == 1)
		return read_u32(at + 12);
	return type ? GPU_DEVICE_HOST : GPU_DEVICE_UNKNOWN;
}

/* The direction from CUmemorytype values: host 1, device 2, array 3, unified 4. Returns `fixed`
 * where they do not determine it. */
static __always_inline u8 direction_of(u32 from, u32 to, u8 fixed)
{
	u32 from_host = from == 1, to_host = to == 1;

	if (from < 1 || from > 3 || to < 1 || to > 3)
		return fixed;
	if (from_host)
		return to_host ? GPU_COPY_H2H : GPU_COPY_H2D;
	return to_host ? GPU_COPY_D2H : GPU_COPY_D2D;
}

struct gpu_copied {
	u64 bytes;
	u8 direction;
};

/* CUDA_MEMCPY2D_v2, 128 bytes: srcMemoryType 16, dstMemoryType 72, WidthInBytes 112, Height 120. */
static __always_inline struct gpu_copied read_copy_2d(u64 at, u8 fixed)
{
	return (struct gpu_copied){
		.bytes = read_u64(at + 112) * read_u64(at + 120),
		.direction = direction_of(read_u32(at + 16), read_u32(at + 72), fixed),
	};
}

/* CUDA_MEMCPY3D_v2 and CUDA_MEMCPY3D_PEER, 200 bytes: srcMemoryType 32, dstMemoryType 120,
 * WidthInBytes 176, Height 184, Depth 192. */
static __always_inline struct gpu_copied read_copy_3d(u64 at, u8 fixed)
{
	u8 told = direction_of(read_u32(at + 32), read_u32(at + 120), fixed);

	return (struct gpu_copied){
		.bytes = read_u64(at + 176) * read_u64(at + 184) * read_u64(at + 192),
		.direction = fixed == GPU_COPY_PEER ? fixed : told,
	};
}

enum { SIZES_A_TIME = 16, SIZES_TIMES = 1024 };

struct size_sum {
	u64 at, count, bytes;
};

static long add_sizes(u32 index, void *context)
{
	struct size_sum *sum = context;
	u64 sizes[SIZES_A_TIME] = {0};
	u64 first = index * SIZES_A_TIME, left;

	if (first >= sum->count)
		return 1;
	left = sum->count - first;
	if (left > SIZES_A_TIME)
		left = SIZES_A_TIME;
	left *= sizeof(u64);
	barrier_var(left);
	if (left > sizeof(sizes) ||
	    bpf_probe_read_user(sizes, left, (void *)(sum->at + first * sizeof(u64)))) {
		GPU_ADD(unreadable);
		return 1;
	}
	for (u32 i = 0; i < SIZES_A_TIME; i++)
		sum->bytes += sizes[i];
	return 0;
}

/* The sum of `count` sizes; those behind the first 16384 are not added. Not inline, as
 * array_bytes(). */
static __noinline u64 read_sizes(u64 at, u64 count)
{
	struct size_sum sum = {.at = at, .count = count};

	if (count > SIZES_A_TIME * SIZES_TIMES)
		GPU_ADD(unreadable);
	bpf_loop(SIZES_TIMES, add_sizes, &sum, 0);
	return sum.bytes;
}
