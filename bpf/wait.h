/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the programs that record waits and the daemon share.
 */
#pragma once

#include "bpf/abi.h"

enum {
	WAITS_OPEN = 8192,       /* waits under way that are sampled */
	WAIT_KEPT_NODES = 16384, /* of their stacks, at least */
	WAIT_KEPT_NODES_PER_CPU = 2048,
	WAIT_KEPT_NODES_MOST = 131072,
	WAIT_SEATS = 4096, /* a power of two */
};

/* In a tally of KIND_waker, whose key is that of the thread that ended a wait, in place of the
 * thread's name: the thread that waited. */
struct woken {
	u32 pid, tid;
	u64 user_stack;
};
_Static_assert(sizeof(struct woken) == TASK_COMM_BYTES, "it has that place");
