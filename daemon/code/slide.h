/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds a place in a function's first bytes where a probe is cheap. Under a uprobe the kernel
 * emulates an instruction if it is a push of a register, a nop of one byte, or a direct jump,
 * branch or call. Any other instruction is single-stepped, which costs a second trap, twenty times
 * as much where a hypervisor takes part. The probe therefore goes to the first emulated
 * instruction, if the instructions before it leave the arguments alone and nothing jumps in
 * between. x86-64; on other machines a probe stays at the function's beginning. Source:
 * arch/x86/kernel/uprobes.c, branch_setup_xol_ops() and push_setup_xol_ops(), of Linux 4.17 and
 * later. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_SLIDE_BYTES = 64 };

struct slide {
	uint32_t offset; /* from the function's first byte */
	uint32_t pushed; /* bytes by which the stack pointer is lower at that place */
	bool emulated;
};

/* Finds the place for a function of `len` bytes whose first `arguments` arguments must be intact at
 * the probe. With `returns` the return address must be on top of the stack at the probe. `machine`
 * is EM_*. Returns 0; the function's first byte is always a possible answer. -ENOTSUP when the code
 * is not understood, or is for another machine; *ret_slide is then the function's beginning,
 * too. */
int slide_find(uint16_t machine, const uint8_t *code, size_t len, uint32_t arguments, bool returns,
               struct slide *ret_slide);
