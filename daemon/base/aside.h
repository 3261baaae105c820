/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct aside - runs calls that may hang on a thread aside, for the worker of a lane, which must
 * go on. A call that is not back in time is left behind with its thread, and the next call gets a
 * new thread.
 *
 * - Of each process, and of each user, at most one call is left behind at a time; of the superuser
 *   ASIDE_LEFT_ROOT. Further calls are refused until the kernel lets one return.
 * - A user whose calls are slow may keep the worker waiting for half a second, and for a twentieth
 *   of the time after that; waiting for a CPU does not count. Then the user's calls are refused.
 *   Users of one account (base/accounts.h) are one user. The superuser has no such limit.
 *
 * One thread at a time calls aside_run(); any thread creates and frees.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct aside;

enum {
	ASIDE_LEFT_ROOT = 16,
	ASIDE_LEFT_MAX = 64, /* calls left behind, of all users, each with a thread */
};

/* Embed in a larger struct. */
struct aside_call {
	uint32_t owner, pid; /* the process that the call reads, and the user that runs it */
	void (*run)(struct aside_call *call);
	void (*free)(struct aside_call *call); /* of a call left behind, once run() has returned */
	/* Set when run() has returned: for how long it ran or was blocked. */
	uint64_t took_ns;

	/* Private. */
	struct aside_call *prev, *next;
	bool is_over, is_left;
};

struct aside *aside_new(void); /* NULL when out of memory */
/* Threads that are left behind keep what they need. Takes NULL. */
void aside_free(struct aside *aside);
DEFINE_CLEANUP(struct aside *, aside_free)

/* 0: run() has returned, and the call is the caller's again. -ETIMEDOUT: run() took longer than
 * `patience_ns`; free() will be called, on another thread, so the caller must not use the call any
 * more. -EBUSY: the call was refused as said above. -EAGAIN: there is no thread for it,
 * or none that got a CPU in time. In both cases run() was not called, and the call is the caller's
 * again. */
int aside_run(struct aside *aside, struct aside_call *call, uint64_t patience_ns);
