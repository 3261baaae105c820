/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The clocks. Samples, side-band records and windows are timed by CLOCK_MONOTONIC, which
 * bpf_ktime_get_ns() reads; output for people and pprof uses CLOCK_REALTIME.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Time since boot, the clock of the start times of processes; it also advances while the host is
 * suspended. */
static inline uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static inline uint64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
