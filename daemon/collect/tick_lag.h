/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long after a tick has stopped a CPU its program reads the clock: tenths of a microsecond, but
 * on virtual machines, where the hypervisor comes in between, up to ten microseconds. Meanwhile
 * nothing runs, so a tick counts as of when it stopped the CPU.
 */
#pragma once

#include <stdint.h>

/* Takes three milliseconds of the CPU, and up to 50 where others have it. Nanoseconds, at least; 0
 * where it cannot be measured. */
uint64_t tick_lag_measure_ns(void);
