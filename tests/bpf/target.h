/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct target - a thread of a live process, stopped by ptrace: its registers and memory.
 */
#pragma once

#include "bpf/unwind_table.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	pid_t pid, tid;
	int signal;                   /* the signal that was about to be delivered; 0 for none */
	uint64_t registers[MAX_REGS]; /* by DWARF number */
};

/* Stops a thread, chosen by `random`. -ESRCH when the process has none left, -EAGAIN when the
 * chosen one ended before it was stopped. */
int target_stop(pid_t pid, uint32_t random, struct target *ret_target);
/* Executes one instruction. -ESRCH when the thread ended with it. */
int target_step(struct target *target);
/* Lets the thread go on, and delivers the signal that was about to be delivered. */
void target_release(const struct target *target);
/* Reads all `len` bytes, or returns -EFAULT. */
int target_read(pid_t pid, uint64_t address, void *into, size_t len);
