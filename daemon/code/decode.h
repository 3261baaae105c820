/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One x86-64 instruction, reduced to where control goes next, which registers it writes and what it
 * does to the stack pointer: what code/slide.h and allocators/returns.h need. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decoded_kind {
	DECODED_PLAIN,  /* continues with the next instruction */
	DECODED_CALL,   /* continues likewise, after the callee has returned */
	DECODED_BRANCH, /* continues with the next instruction, or at `target` */
	DECODED_JUMP,   /* continues at `target` */
	DECODED_RETURN,
	DECODED_END, /* control ends: a trap */
};

struct decoded_insn {
	enum decoded_kind kind;
	uint8_t len;
	bool has_target;    /* a call, branch or jump that is direct */
	bool emulated;      /* by the kernel, under a uprobe; see slide.h */
	bool stack_known;   /* its effect on the stack pointer is known */
	int32_t stack_down; /* bytes; negative: up */
	uint16_t writes;    /* general registers, bits in the order of their encoding: rax rcx rdx
	                     * rbx rsp rbp rsi rdi r8... */
	uint64_t target;
};

/* Bits of `writes`. */
enum {
	WRITES_RAX = 1 << 0,
	WRITES_RCX = 1 << 1,
	WRITES_RDX = 1 << 2,
	WRITES_RBX = 1 << 3,
	WRITES_RSP = 1 << 4,
	WRITES_RBP = 1 << 5,
	WRITES_RSI = 1 << 6,
	WRITES_RDI = 1 << 7,
	WRITES_R8 = 1 << 8,
	WRITES_R9 = 1 << 9,
	WRITES_R12_TO_R15 = 0xf << 12,
};

/* False: the bytes are no instruction. */
bool decode_insn(const uint8_t *code, size_t len, uint64_t address, struct decoded_insn *ret_insn);
