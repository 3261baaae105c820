/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The two clocks. Samples, side-band records and windows are timed by CLOCK_MONOTONIC, which is
 * what bpf_ktime_get_ns() reads; people and pprof get CLOCK_REALTIME.
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

/* Since the boot, as the kernel tells of processes: goes on while the host sleeps. */
static inline uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static inline uint64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
