/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One x86-64 instruction reduced to what it does to the stack pointer, to registers that may stand
 * for it, and to the flow of control. Everything else an instruction does is in two facts: which
 * general registers it writes, and how many bytes at which place in memory. Registers have their
 * DWARF numbers.
 */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REG_RAX = 0, REG_RBP = 6, REG_RSP = 7, GENERAL_REGS = 16, NO_REG = 0xff };

enum insn_kind {
	INSN_PLAIN,    /* nothing but `writes` and a store of something unknown */
	INSN_SET,      /* dst = src + imm; dst = imm where src is NO_REG */
	INSN_SET_LOW,  /* the lowest byte of dst = imm */
	INSN_ALIGN,    /* dst &= imm, imm = -(a power of two) */
	INSN_LOAD,     /* dst = *(base + disp) */
	INSN_STORE,    /* *(base + disp) = src */
	INSN_EXCHANGE, /* dst and src change places */
	INSN_PUSH,     /* src, or something unknown; imm bytes */
	INSN_POP,      /* dst, or nowhere; imm bytes */
	INSN_ENTER,    /* imm: bytes of locals */
	INSN_LEAVE,
	INSN_CALL,   /* target, or 0 when that is not known */
	INSN_RETURN, /* to the address on top of the stack */
	INSN_JUMP,   /* target, or 0 */
	INSN_BRANCH, /* target, or go on */
	INSN_TEST,   /* flags of dst */
	INSN_SYSCALL,
	INSN_END, /* does not go on, or not here */
};

enum branch_when { WHEN_OTHER, WHEN_ZERO, WHEN_NOT_ZERO };

struct insn {
	uint64_t target;   /* where it goes; or what may be an address that it computes; or 0 */
	uint32_t at;       /* offset in the code */
	int32_t imm, disp; /* disp: from base, of what it loads or stores */
	uint16_t writes;   /* a bit a register */
	uint16_t stored;   /* bytes written at base + disp; 0 when none, or nobody knows where */
	uint8_t len, kind, dst, src, base, when;
	bool table; /* a jump through a table, not through one pointer */
	bool tail;  /* leaves the function with its frame gone */
};

/* False when these bytes are no instruction. `ret_insn->at` is left to the caller. */
bool insn_decode(const ZydisDecoder *decoder, const uint8_t *code, size_t len, uint64_t address,
                 struct insn *ret_insn);
bool insn_decoder_init(ZydisDecoder *decoder);

/* Whether the next instruction may follow it. */
static inline bool insn_goes_on(const struct insn *insn)
{
	return insn->kind != INSN_RETURN && insn->kind != INSN_JUMP && insn->kind != INSN_END;
}
