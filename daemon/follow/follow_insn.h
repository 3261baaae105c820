/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One x86-64 instruction, reduced to its effects on the stack pointer, on registers that may stand
 * for the stack pointer, and on the flow of control. All other effects are reduced to two facts:
 * which general registers it writes, and how many bytes it writes at which place in memory.
 */
#pragma once

#include "follow/follow_decoded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_PLAIN,    /* only `writes`, and a store of an unknown value */
	INSN_SET,      /* dst = src + imm; dst = imm where src is NO_REG */
	INSN_SET_LOW,  /* the lowest byte of dst = imm */
	INSN_ALIGN,    /* dst &= imm, imm = -(a power of two) */
	INSN_LOAD,     /* dst = *(base + disp) */
	INSN_STORE,    /* *(base + disp) = src */
	INSN_EXCHANGE, /* exchanges dst and src */
	INSN_PUSH,     /* pushes src, or an unknown value; imm bytes */
	INSN_POP,      /* pops into dst, or discards; imm bytes */
	INSN_ENTER,    /* imm: bytes of locals */
	INSN_LEAVE,
	INSN_CALL,   /* target, or 0 when it is unknown */
	INSN_RETURN, /* returns to the address on top of the stack */
	INSN_JUMP,   /* target, or 0 */
	INSN_BRANCH, /* jumps to target, or goes on */
	INSN_TEST,   /* sets the flags from dst */
	INSN_SYSCALL,
	INSN_END, /* control does not go on, or not to the next instruction */
};

enum branch_when { WHEN_OTHER, WHEN_ZERO, WHEN_NOT_ZERO };

struct insn {
	uint64_t target;   /* of a jump or call; or a computed value that may be an address; or 0 */
	uint32_t at;       /* offset in the code */
	int32_t imm, disp; /* disp: relative to base, of the memory that it loads or stores */
	uint16_t writes;   /* one bit for each register */
	uint16_t stored;   /* bytes written at base + disp; 0: none, or at an unknown place */
	uint8_t len, kind, dst, src, base, when;
	bool table; /* jumps through a table, not through a single pointer */
	bool tail;  /* leaves the function after its frame is gone */
};

/* False: the bytes are no instruction. `ret_insn->at` is set by the caller. */
bool insn_decode(const ZydisDecoder *decoder, const uint8_t *code, size_t len, uint64_t address,
                 struct insn *ret_insn);

/* Whether control may go on to the next instruction. */
static inline bool insn_goes_on(const struct insn *insn)
{
	return insn->kind != INSN_RETURN && insn->kind != INSN_JUMP && insn->kind != INSN_END;
}
