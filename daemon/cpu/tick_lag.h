/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The time from when a tick stops a CPU until the tick's program reads the clock: tenths of a
 * microsecond, but up to ten microseconds on virtual machines, where the hypervisor intervenes.
 * Nothing runs in that time, so a tick counts from when it stopped the CPU.
 */
#pragma once

#include <stdint.h>

/* Returns the smallest such time in nanoseconds; 0 if it cannot be measured. Takes three
 * milliseconds of the CPU, and up to 50 while other tasks have it. */
uint64_t tick_lag_measure_ns(void);
