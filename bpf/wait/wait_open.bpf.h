/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sampled waits under way, and how they are accounted for. The programs of wait.bpf.c run where the
 * scheduler switches, those of under_way.bpf.c when a half is about to end.
 */
#pragma once

#include "bpf/task.bpf.h"
#include "bpf/wait/wait_draw.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

#include <bpf/bpf_core_read.h>

/* The enum wait_call of each system call. Set before load. */
extern const volatile u8 wait_calls[WAIT_SYSCALLS];
/* CLOCK_MONOTONIC less rq.clock, as of late; 0: not known yet. */
extern u64 wait_ahead_ns;

/* The thread that ended a wait. pid 0: an interrupt did. */
struct waker {
	u64 kernel_stack, user_stack;
	u64 user_and_1; /* whose room its stacks take; as scratch->user_and_1 */
	u32 pid, tid, image, unused;
};

/* A sampled wait under way. */
struct wait {
	u64 since_ns; /* what was before is accounted for; CLOCK_MONOTONIC */
	u64 began_ns;
	u64 weight;
	u64 run_delay;  /* the thread's sched_info.run_delay when the wait began */
	u64 ahead_ns;   /* CLOCK_MONOTONIC less rq.clock */
	u64 arrival_ns; /* when the thread had been switched to before; by rq.clock */
	u64 ran_ns;     /* its sum_exec_runtime, which stands still while it waits */
	u64 has_ended; /* it is accounted for, and the thread has not been switched away from yet */
	u32 user;
	u32 place;    /* where the account's waits are counted */
	u64 woken_ns; /* 0: not yet */
	struct waker waker;
	struct tally_key key;
};

struct wait_open_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	/* The address of the thread's task_struct: its tid changes when it calls exec and is not
	 * the first thread of its process. A thread is switched away from one last time, so no
	 * other thread inherits its wait. */
	__type(key, u64);
	__type(value, struct wait);
	__uint(max_entries, WAITS_OPEN);
};

/* Where wait_switch puts one together: it is too large for the stack. */
struct wait_new_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct wait);
	__uint(max_entries, 1);
};

extern struct wait_open_map wait_open SEC(".maps");
extern struct wait_new_map wait_new SEC(".maps");

/* Adds a part of a wait, whose key is in the scratch, to the half. */
u32 wait_put(u32 at, u32 detail, u64 samples, u64 value, u64 until);
/* Puts a kept stack into the half; returns its id, or STACK_LOST. */
u64 wait_stack_put(u32 at, u64 key);

static __always_inline u32 state_of(struct task_struct *task, int is_preempted)
{
	u32 state = task->__state;

	/* It may have been woken already. */
	if (is_preempted || !state || state & TASK_WAKING)
		return WAIT_RUNNABLE;
	if (state & TASK_INTERRUPTIBLE)
		return WAIT_SLEEP;
	return state & TASK_STOPPED_OR_TRACED ? WAIT_STOPPED : WAIT_DISK;
}

/* The scratch has the registers with which user space entered the kernel. */
static __always_inline u32 call_of(const struct scratch *scratch)
{
	u64 number = REGS_SYSCALL_NUMBER(&scratch->entry);

	/* System calls of 32-bit programs have other numbers. */
	if (!REGS_USER(&scratch->entry) || REGS_COMPAT(&scratch->entry))
		return WAIT_OTHER;
#if defined(__TARGET_ARCH_x86)
	if (!REGS_SYSCALL(&scratch->entry))
		return WAIT_PAGE_FAULT;
#endif
	return number < WAIT_SYSCALLS ? wait_calls[number] : WAIT_OTHER;
}

/* The futex for which a wait with this detail is; the scratch has the entry's registers. */
static __always_inline u64 waited_futex(const struct scratch *scratch, u32 detail)
{
	return detail == (WAIT_SLEEP | WAIT_FUTEX << WAIT_CALL_SHIFT) ? futex_of(&scratch->entry)
	                                                              : 0;
}

static __always_inline void give_back(u32 place, struct wait_seat *seat)
{
	u32 zero = 0;
	struct taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	__sync_fetch_and_add(&seat->open, -1);
	if (open)
		taken_give(open, place);
}

static __always_inline void forget(u64 who, u32 place, struct wait_seat *seat)
{
	if (!bpf_map_delete_elem(&wait_open, &who))
		give_back(place, seat);
}

/* The scheduler's account of a thread up to a moment of its wait; see struct tally. */
static __always_inline void take_account(const struct task_struct *task, struct scratch *scratch,
                                         const struct wait *wait, u64 until, u64 delayed_ns)
{
	scratch->waited_ns = until - wait->ran_ns;
	scratch->delayed_ns = delayed_ns;
	scratch->switches = task->nvcsw + task->nivcsw;
}

/* Adds who ended a wait whose last part has just been added. `began_ns` tells whether the entry is
 * still that wait's. The key is made in its place: the stack of a program is small. */
static __always_inline void put_waker(struct scratch *scratch, u32 at, struct wait *wait,
                                      u64 began_ns, u64 weight, u64 until)
{
	struct tally_key *key = &scratch->key;
	struct woken *woken = (struct woken *)key->thread;
	u64 woken_ns = wait->woken_ns, user = scratch->user_and_1;

	if (woken_ns <= began_ns || woken_ns > until)
		return;
	woken->pid = wait->key.pid;
	woken->tid = wait->key.tid;
	woken->user_stack = wait->key.user_stack;
	key->kernel_stack = wait->waker.kernel_stack;
	key->user_stack = wait->waker.user_stack;
	key->pid = wait->waker.pid;
	key->tid = wait->waker.tid;
	key->image = wait->waker.image;
	key->kind = KIND_waker;
	key->gil = key->detail = 0;
	key->futex = 0;
	scratch->user_and_1 = wait->waker.user_and_1;
	if (*(volatile u64 *)&wait->began_ns == began_ns) {
		key->kernel_stack = wait_stack_put(at, key->kernel_stack);
		key->user_stack = wait_stack_put(at, key->user_stack);
		scratch->user_and_1 = user;
		/* By the time of the waking: the waker may have called exec since. */
		tally_put(at, weight, (woken_ns - began_ns) * weight, woken_ns);
	}
	scratch->user_and_1 = user;
}

/* Accounts for a wait from which a thread came when it was switched to. `began_ns` tells whether it
 * is still the wait that was found. */
static __always_inline void end_wait(struct task_struct *task, struct scratch *scratch, u32 at,
                                     struct wait *wait, u64 began_ns)
{
	u64 until = task->sched_info.last_arrival + wait->ahead_ns, weight = wait->weight;
	u64 since = __sync_lock_test_and_set(&wait->since_ns, until), left, runnable;
	u32 detail = wait->key.detail, is_runnable;

	if (*(volatile u64 *)&wait->began_ns != began_ns ||
	    __sync_lock_test_and_set(&wait->has_ended, 1))
		return;
	take_account(task, scratch, wait, until, task->sched_info.run_delay);
	left = until > since ? until - since : 0;
	runnable = task->sched_info.run_delay - wait->run_delay;
	if (runnable > left || WAIT_STATE_OF(detail) == WAIT_RUNNABLE)
		runnable = left;
	scratch->key = wait->key;
	if (runnable && runnable < left) {
		wait_put(at, WAIT_RUNNABLE, 0, runnable * weight, until);
		scratch->key = wait->key;
	}
	is_runnable = left && runnable == left;
	wait_put(at, is_runnable ? WAIT_RUNNABLE : detail, weight,
	         (is_runnable ? left : left - runnable) * weight, until);
	put_waker(scratch, at, wait, began_ns, weight, until);
}

static __always_inline int may_open(u64 user_and_1, u32 *ret_place)
{
	u32 zero = 0;
	struct taken *open = bpf_map_lookup_elem(&wait_taken, &zero);

	if (!open)
		return 0;
	*ret_place = taken_place(open, WAITS_OPEN, user_and_1);
	if (*ret_place == NO_ROOM)
		return 0;
	taken_count(open, *ret_place);
	return 1;
}
