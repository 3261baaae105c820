/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When processes called exec, as the kernel half writes it at that moment: before the side-band
 * tells, and before the new program has done anything. So whatever was read of a process's memory
 * is that of the program it had, if it has called no exec since that program was seen, asked after
 * the reading. For the daemon; any thread.
 */
#pragma once

#include "bpf/unwind_table.h"

#include <stdbool.h>
#include <stdint.h>

/* `execs`: EXEC_TIMES of them, or NULL where none is written. Others with the same low bits of the
 * pid count as well: what is asked for is only left out for a moment. */
static inline bool execs_since(const uint64_t *execs, uint32_t pid, uint64_t mono_ns)
{
	return execs && __atomic_load_n(&execs[pid & (EXEC_TIMES - 1)], __ATOMIC_SEQ_CST) > mono_ns;
}
