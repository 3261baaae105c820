/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where in a function's first bytes a probe is cheap. The kernel emulates an instruction under a
 * uprobe if it is a push of a register, a nop of one byte, or a direct jump, branch or call; any
 * other is executed in single step, which costs a second trap, twenty times as much where a
 * hypervisor takes part in it. So the probe goes to the first such instruction, if what stands
 * before it leaves the arguments alone and nothing jumps in between. x86-64; on other machines a
 * probe stays where the function begins. Source: arch/x86/kernel/uprobes.c, branch_setup_xol_ops()
 * and push_setup_xol_ops(), of Linux 4.17 on. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_SLIDE_BYTES = 64 };

struct slide {
	uint32_t offset; /* from the function's first byte */
	uint32_t pushed; /* bytes that the stack pointer went down until there */
	bool emulated;
};

/* For a function of `len` bytes whose first `arguments` arguments must be intact at the probe.
 * With `returns` the probe is to find the return address on top of the stack. `machine` is EM_*.
 * 0: the function's first byte always is an answer. -ENOTSUP when its code is not understood, or is
 * of another machine; *ret_slide is that answer then, too. */
int slide_find(uint16_t machine, const uint8_t *code, size_t len, uint32_t arguments, bool returns,
               struct slide *ret_slide);
