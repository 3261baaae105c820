/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where it is kept how much of a process's growth is in no sample yet: its seat, one of eight by
 * its pid. Where all eight are taken, a new process gets that of one that the walker does not know
 * any more, or else one of the account that has most of the eight, if that is more than its own has
 * then: nobody's processes, however many, make those of others forgotten.
 */
#pragma once

#include "bpf/maps.bpf.h"
#include "bpf/task.bpf.h"

enum { GROWTH_SEATS = 8192, SEAT_NONE = GROWTH_SEATS, SEAT_PID_SHIFT = 32 };

/* Which program is meant: the current process's pid, below it task_image(). */
static __always_inline u64 seat_who(void)
{
	return bpf_get_current_pid_tgid() >> 32 << SEAT_PID_SHIFT | task_image();
}

/* Its seat; SEAT_NONE where others have all eight, or took one just now. */
u32 seat_of(u64 who);
/* Whether a process with a pid like its was forgotten since a time of CLOCK_BOOTTIME: it may have
 * been this one. */
u32 seat_forgot_since(u64 who, u64 since_ns);
/* Its parts: whether a seat can be had, and which of a bucket. */
u32 seat_is_free(u64 whose, u64 who);
u32 seat_first_free(u32 number, u64 who);
u32 seat_of_most(u32 number, u64 place);

/*
 * What is kept of a seat begins with whose it is; who finds somebody else's begins anew:
 *
 *	if (seat_begins(&value->who, who)) {
 *		... sets all the rest ...
 *		seat_has_begun(&value->who, who);
 *	}
 *	... uses it if seat_is_of(&value->who, who) ...
 */

/* While a thread begins, the others of its process see nothing. */
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
