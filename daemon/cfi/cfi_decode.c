/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The shapes of all call frame instructions, as a table by opcode.
 */
#include "cfi/cfi_decode.h"

#include "elf/dwarf.h"

enum {
	PRIMARY_MASK = 0xc0,
	OPCODES = 0x40,
};

enum operand {
	UNKNOWN, /* not an opcode */
	NONE,
	ULEB,
	SLEB,
	BYTE,
	HALF,
	WORD,
	LONG,
	ADDRESS,
	BLOCK, /* a length, then that many bytes */
};

struct shape {
	uint8_t first, second;
};

static const struct shape shapes[OPCODES] = {
	[DW_CFA_nop] = {NONE, NONE},
	[DW_CFA_set_loc] = {ADDRESS, NONE},
	[DW_CFA_advance_loc1] = {BYTE, NONE},
	[DW_CFA_advance_loc2] = {HALF, NONE},
	[DW_CFA_advance_loc4] = {WORD, NONE},
	[DW_CFA_offset_extended] = {ULEB, ULEB},
	[DW_CFA_restore_extended] = {ULEB, NONE},
	[DW_CFA_undefined] = {ULEB, NONE},
	[DW_CFA_same_value] = {ULEB, NONE},
	[DW_CFA_register] = {ULEB, ULEB},
	[DW_CFA_remember_state] = {NONE, NONE},
	[DW_CFA_restore_state] = {NONE, NONE},
	[DW_CFA_def_cfa] = {ULEB, ULEB},
	[DW_CFA_def_cfa_register] = {ULEB, NONE},
	[DW_CFA_def_cfa_offset] = {ULEB, NONE},
	[DW_CFA_def_cfa_expression] = {BLOCK, NONE},
	[DW_CFA_expression] = {ULEB, BLOCK},
	[DW_CFA_offset_extended_sf] = {ULEB, SLEB},
	[DW_CFA_def_cfa_sf] = {ULEB, SLEB},
	[DW_CFA_def_cfa_offset_sf] = {SLEB, NONE},
	[DW_CFA_val_offset] = {ULEB, ULEB},
	[DW_CFA_val_offset_sf] = {ULEB, SLEB},
	[DW_CFA_val_expression] = {ULEB, BLOCK},
	[DW_CFA_MIPS_advance_loc8] = {LONG, NONE},
	/* These say whether the return address is signed. The walker strips signatures in any
         * case. */
	[DW_CFA_AARCH64_negate_ra_state_with_pc] = {NONE, NONE},
	[DW_CFA_AARCH64_negate_ra_state] = {NONE, NONE},
	[DW_CFA_GNU_args_size] = {ULEB, NONE},
	[DW_CFA_GNU_negative_offset_extended] = {ULEB, ULEB},
};

static uint64_t read_operand(struct cursor *cursor, uint8_t pointer_encoding, uint8_t address_bytes,
                             enum operand operand, struct cfi_instruction *instruction)
{
	uint64_t value = 0;

	switch (operand) {
	case UNKNOWN:
	case NONE:
		return 0;
	case ULEB:
		return cursor_uleb(cursor);
	case SLEB:
		return (uint64_t)cursor_sleb(cursor);
	case BYTE:
		return cursor_u8(cursor);
	case HALF:
		return cursor_u16(cursor);
	case WORD:
		return cursor_u32(cursor);
	case LONG:
		return cursor_u64(cursor);
	case ADDRESS:
		return cursor_pointer(cursor, pointer_encoding, address_bytes);
	case BLOCK:
		value = cursor_uleb(cursor);
		instruction->block = cursor_bytes(cursor, value);
		instruction->block_len = value;
		return value;
	}
	return value;
}

bool cfi_decode(struct cursor *cursor, uint8_t pointer_encoding, uint8_t address_bytes,
                struct cfi_instruction *ret)
{
	uint8_t byte = cursor_u8(cursor);
	uint8_t low = byte & (uint8_t)~PRIMARY_MASK;

	*ret = (struct cfi_instruction){.op = byte & PRIMARY_MASK, .first = low};
	switch (ret->op) {
	case DW_CFA_advance_loc:
	case DW_CFA_restore:
		return true;
	case DW_CFA_offset:
		ret->second = cursor_uleb(cursor);
		return !cursor->broken;
	default:
		break;
	}
	ret->op = low;
	if (shapes[low].first == UNKNOWN)
		return false;
	ret->first = read_operand(cursor, pointer_encoding, address_bytes, shapes[low].first, ret);
	ret->second =
		read_operand(cursor, pointer_encoding, address_bytes, shapes[low].second, ret);
	return !cursor->broken;
}
