/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The record that the BPF programs write when the kernel kills a process for lack of memory. Both
 * the BPF programs and the daemon include this file.
 */
#pragma once

#include "bpf/abi.h"

enum {
	OOM_COMM_BYTES = 16,
	OOM_RING_BYTES = 32 * 1024, /* an account's share is some 200 victims of a group that is
	                               killed as a whole */
	OOM_USER_UNKNOWN = -1,
};

struct oom_victim {
	u32 pid; /* 0: only the thread is known, before Linux 6.9 */
	u32 tid;
	u64 anon_pages, file_pages, shmem_pages, swap_pages; /* 0 where not known */
	char comm[OOM_COMM_BYTES];
	u32 user; /* its real user in the initial user namespace; OOM_USER_UNKNOWN where pid is 0 */
	u32 unused;
};

_Static_assert(sizeof(struct oom_victim) == 64, "no padding");
