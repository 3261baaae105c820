/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shortage of descriptors.
 */
#pragma once

#include <check.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

/* From now on this process can open at most so many more; UINT_MAX: as many as the limit that it
 * had before the last call. */
static inline void leave_descriptors(unsigned int count)
{
	static rlim_t before;
	struct rlimit limit;
	int lowest;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (count == UINT_MAX) {
		limit.rlim_cur = before;
	} else {
		lowest = dup(STDERR_FILENO);
		ck_assert_int_ge(lowest, 0);
		close(lowest);
		before = limit.rlim_cur;
		limit.rlim_cur = (rlim_t)lowest + count;
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
