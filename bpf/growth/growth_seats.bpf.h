/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Seats: the places that hold how much of a process's growth is in no sample yet. A process's pid
 * leads to a bucket of eight seats. Where all eight are taken, a new process gets the seat of a
 * process that the walker no longer knows. Else it gets one of the account that has most of the
 * eight, if that has more than the new process's account has then. So no account, however many
 * processes it has, makes the daemon forget those of others.
 */
#pragma once

#include "bpf/maps.bpf.h"
#include "bpf/task.bpf.h"

enum { GROWTH_SEATS = 8192, SEAT_NONE = GROWTH_SEATS, SEAT_PID_SHIFT = 32 };

/* Identifies the current program: the pid of the process, and below it task_image(). */
static __always_inline u64 seat_who(void)
{
	return bpf_get_current_pid_tgid() >> 32 << SEAT_PID_SHIFT | task_image();
}

/* The seat of a program; SEAT_NONE where others have all eight, or another thread has just taken
 * one. */
u32 seat_of(u64 who);
/* Whether a process of the same bucket was forgotten since `since_ns`, CLOCK_BOOTTIME: it may have
 * been this one. */
u32 seat_forgot_since(u64 who, u64 since_ns);
/* Parts of seat_of(): whether a seat may be taken, and which seat of a bucket. */
u32 seat_is_free(u64 whose, u64 who);
u32 seat_first_free(u32 number, u64 who);
u32 seat_of_most(u32 number, u64 place);

/*
 * What is kept for a seat begins with its owner. A program that finds another owner there begins
 * anew:
 *
 *	if (seat_begins(&value->who, who)) {
 *		... sets all the rest ...
 *		seat_has_begun(&value->who, who);
 *	}
 *	... uses it if seat_is_of(&value->who, who) ...
 */

/* Set while a thread begins: the other threads of its process do not use the seat then. */
static const u64 seat_beginning = 1ULL << 63;

static __always_inline int seat_is_of(const u64 *of, u64 who)
{
	return *(volatile const u64 *)of == who;
}

static __always_inline int seat_begins(u64 *of, u64 who)
{
	u64 before = *(volatile u64 *)of;

	return before != who && !(before & seat_beginning) &&
	       __sync_val_compare_and_swap(of, before, who | seat_beginning) == before;
}

static __always_inline void seat_has_begun(u64 *of, u64 who)
{
	__sync_lock_test_and_set(of, who);
}
