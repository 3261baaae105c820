/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Times at which processes called exec. The BPF programs write them at that moment: before the
 * side-band record arrives, and before the new program has run. So memory that was read from a
 * process belongs to the program that the daemon knows if, checked after the read, the process has
 * called no exec since the daemon saw that program. For the daemon; any thread.
 */
#pragma once

#include "bpf/unwind_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the process called exec after `mono_ns`. `execs` has EXEC_TIMES elements, or is NULL
 * where no times are written. An exec of another process whose pid has the same low bits counts as
 * well: the caller then leaves the process out for a moment only. */
static inline bool execs_since(const uint64_t *execs, uint32_t pid, uint64_t mono_ns)
{
	return execs && __atomic_load_n(&execs[pid & (EXEC_TIMES - 1)], __ATOMIC_SEQ_CST) > mono_ns;
}
