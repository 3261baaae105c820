/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One x86-64 instruction, reduced to where it goes on, which registers it writes and what it does
 * to the stack pointer: what slide.h and returns.h need. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decoded_kind {
	DECODED_PLAIN,  /* goes on behind it */
	DECODED_CALL,   /* the same, after what it calls has returned */
	DECODED_BRANCH, /* goes on behind it, or at `target` */
	DECODED_JUMP,   /* goes on at `target` */
	DECODED_RETURN,
	DECODED_END, /* goes on nowhere: a trap */
};

struct decoded_insn {
	enum decoded_kind kind;
	uint8_t len;
	bool has_target;    /* of a call, branch or jump: it is direct */
	bool emulated;      /* by the kernel, under a uprobe; see slide.h */
	bool stack_known;   /* what it does to the stack pointer */
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

/* false when the bytes are no instruction. */
bool decode_insn(const uint8_t *code, size_t len, uint64_t address, struct decoded_insn *ret_insn);
