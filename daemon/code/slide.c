/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Moves forward over instructions that change nothing a probe reads, to the first emulated one.
 */
#include "code/slide.h"

#include "code/decode.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* How much of a function is searched for jumps; allocators' functions have some hundred bytes. */
enum { MAX_FUNCTION_BYTES = 64 << 10 };

/* Registers of the caller, which a stack walk from the probe needs unchanged. A function saves them
 * before it writes them, and the search ends at a push in any case. */
static const uint16_t kept = WRITES_RBX | WRITES_RBP | WRITES_R12_TO_R15;

static uint16_t arguments_mask(uint32_t count)
{
	static const uint16_t order[] = {WRITES_RDI, WRITES_RSI, WRITES_RDX,
	                                 WRITES_RCX, WRITES_R8,  WRITES_R9};
	uint16_t mask = 0;

	for (uint32_t i = 0; i < count && i < sizeof(order) / sizeof(*order); i++)
		mask |= order[i];
	return mask;
}

static bool may_skip(const struct decoded_insn *insn, uint32_t arguments, bool returns)
{
	return insn->kind == DECODED_PLAIN && insn->stack_known && insn->stack_down >= 0 &&
	       !(returns && insn->stack_down) &&
	       !(insn->writes & (kept | arguments_mask(arguments)));
}

/* Whether a jump leads into (0, offset]: the code there would run more than once a call. All bytes
 * are decoded in order; data among the code may be taken for a jump. */
static bool is_jumped_to(const uint8_t *code, size_t len, uint64_t offset)
{
	struct decoded_insn insn;

	for (size_t at = 0; at < len; at += insn.len) {
		if (!decode_insn(code + at, len - at, at, &insn)) {
			insn.len = 1;
			continue;
		}
		if ((insn.kind == DECODED_JUMP || insn.kind == DECODED_BRANCH) && insn.has_target &&
		    insn.target > 0 && insn.target <= offset)
			return true;
	}
	return false;
}

/* Under a uprobe, Linux 6.18 turns a nop of five bytes into a call to a page of the kernel. Where
 * that was seen, children of a fork had no such page, so no probe is put on such a nop. */
static uint32_t leading_nop(const uint8_t *code, size_t len)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return len > sizeof(nop) && !memcmp(code, nop, sizeof(nop)) ? sizeof(nop) : 0;
}

int slide_find(uint16_t machine, const uint8_t *code, size_t len, uint32_t arguments, bool returns,
               struct slide *ret_slide)
{
	struct slide slide = {0};
	struct decoded_insn insn;

	*ret_slide = slide;
	if (machine != EM_X86_64)
		return -ENOTSUP;
	ret_slide->offset = leading_nop(code, len);
	for (; slide.offset <= MAX_SLIDE_BYTES; slide.offset += insn.len) {
		if (slide.offset >= len ||
		    !decode_insn(code + slide.offset, len - slide.offset, slide.offset, &insn))
			return -ENOTSUP;
		slide.emulated = insn.emulated;
		if (insn.emulated)
			break;
		if (!may_skip(&insn, arguments, returns))
			return 0;
		slide.pushed += (uint32_t)insn.stack_down;
	}
	if (!slide.emulated ||
	    (slide.offset &&
	     is_jumped_to(code, len < MAX_FUNCTION_BYTES ? len : MAX_FUNCTION_BYTES, slide.offset)))
		return 0;
	*ret_slide = slide;
	return 0;
}
