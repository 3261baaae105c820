/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls that are counted in rows: launches, copies, waits. A call's arguments give the key of its
 * row.
 */
#pragma once

#include "bpf/gpu/gpu_rows.bpf.h"

static __always_inline void key_begin(struct gpu_call_key *key, u16 kind,
                                      const struct gpu_thread *thread, union gpu_site_cookie site)
{
	__builtin_memset(key, 0, sizeof(*key));
	key->kind = kind;
	key->call = site.call;
	if (thread) {
		key->tid = thread->tid;
		key->image = thread->image;
		key->device = thread->device;
	} else {
		key->tid = (u32)bpf_get_current_pid_tgid();
		key->image = task_image();
		key->device = GPU_DEVICE_UNKNOWN;
	}
}

/* cuLaunchKernel() and its kin: the function, then three sizes of the grid and three of the block.
 * With six argument registers the last size is on the stack: it is read when a row is made. */
static __always_inline void read_shape(struct gpu_call_key *key,
                                       const volatile struct pt_regs *regs)
{

#if defined(__TARGET_ARCH_x86)
	key->object = regs->di;
	key->grid[0] = regs->si;
	key->grid[1] = regs->dx;
	key->grid[2] = regs->cx;
	key->block[0] = regs->r8;
	key->block[1] = regs->r9;
#else
	key->object = regs->regs[0];
	key->grid[0] = regs->regs[1];
	key->grid[1] = regs->regs[2];
	key->grid[2] = regs->regs[3];
	key->block[0] = regs->regs[4];
	key->block[1] = regs->regs[5];
	key->block[2] = regs->regs[6];
#endif
}

/* CUlaunchConfig begins with the grid and the block. */
static __always_inline void read_config(struct gpu_call_key *key, u64 config)
{
	_Static_assert(__builtin_offsetof(struct gpu_call_key, block) ==
	                       __builtin_offsetof(struct gpu_call_key, grid) + sizeof(key->grid),
	               "as in CUlaunchConfig");
	if (bpf_probe_read_user(key->grid, sizeof(key->grid) + sizeof(key->block), (void *)config))
		GPU_ADD(unreadable);
}

static __always_inline void launch_key(struct gpu_call_key *key, const struct gpu_thread *thread,
                                       union gpu_site_cookie site,
                                       const volatile struct pt_regs *regs)
{
	key_begin(key, KIND_gpu_launch, thread, site);
	if (site.role == GPU_LAUNCHES && site.b != GPU_NO_ARGUMENT) {
		read_shape(key, regs);
	} else if (site.role == GPU_LAUNCHES_BY_CONFIG) {
		key->object = argument(regs, site.b);
		read_config(key, argument(regs, site.a));
	} else {
		key->object = argument(regs, site.a);
	}
}

/* Not inline, as array_bytes(). */
static __noinline void read_copied(u64 cookie, const struct gpu_place *place,
                                   struct gpu_copied *ret_copied)
{
	const union gpu_site_cookie site = {.cookie = cookie};
	const volatile struct pt_regs *regs = place->regs;
	u64 frame = place->frame;
	u64 a = argument_any(regs, frame, site.a), b = argument_any(regs, frame, site.b);
	struct gpu_copied copied = {.direction = site.detail};

	switch (site.role) {
	case GPU_COPIES:
		copied.bytes = b;
		break;
	case GPU_COPIES_2D:
		copied = read_copy_2d(a, site.detail);
		break;
	case GPU_COPIES_3D:
		copied = read_copy_3d(a, site.detail);
		break;
	case GPU_COPIES_BATCH:
		copied.bytes = read_sizes(a, b);
		break;
	case GPU_SETS:
		copied.bytes = b * site.size;
		break;
	case GPU_SETS_2D:
		copied.bytes = b * argument_any(regs, frame, site.b + 1) * site.size;
		break;
	}
	*ret_copied = copied;
}

static __always_inline void copy_key(struct gpu_call_key *key, const struct gpu_thread *thread,
                                     union gpu_site_cookie site, u64 frame, u8 direction)
{
	key_begin(key, KIND_gpu_copy, thread, site);
	key->detail = direction;
	if (thread && is_tagged(thread, frame)) {
		key->via = thread->tag_call;
		if (direction == GPU_COPY_DEFAULT && thread->tag_direction < GPU_COPY_DEFAULT)
			key->detail = thread->tag_direction;
	}
}

static __always_inline void wait_key(struct gpu_call_key *key, const struct gpu_thread *thread,
                                     union gpu_site_cookie site, u64 frame)
{
	key_begin(key, KIND_gpu_wait, thread, site);
	if (is_tagged(thread, frame))
		key->via = thread->tag_call;
}
