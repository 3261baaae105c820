/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a process that was not reaped yet has had of the CPUs. No state; any thread.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The time that the process used a CPU. */
uint64_t process_cpu_ns(pid_t pid);
/* The time that the first thread of the process was ready to run while others had the CPU, without
 * a wait that has not ended yet. 0 where the kernel does not count that. */
uint64_t process_wait_ns(pid_t pid);
