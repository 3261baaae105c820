/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads LEB128 numbers and encoded pointers.
 */
#include "elf/cursor.h"
#include "elf/dwarf.h"

enum {
	LEB_MORE = 0x80,
	LEB_SIGN = 0x40,
	LEB_BITS = 7,
	FORMAT_MASK = 0x0f,
	APPLICATION_MASK = 0x70,
};

/* Returns the number of bits that were read; the value holds at most 64 of them. */
static unsigned int leb(struct cursor *cursor, uint64_t *ret_value, uint8_t *ret_last)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(cursor);
		if (shift < 64) {
			value |= (uint64_t)(byte & ~LEB_MORE) << shift;
			shift += LEB_BITS;
		}
	} while (byte & LEB_MORE);
	*ret_value = cursor->broken ? 0 : value;
	*ret_last = byte;
	return shift;
}

uint64_t cursor_uleb(struct cursor *cursor)
{
	uint64_t value;
	uint8_t last;

	leb(cursor, &value, &last);
	return value;
}

int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value;
	uint8_t last;
	unsigned int bits = leb(cursor, &value, &last);

	if (bits < 64 && last & LEB_SIGN)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

static uint64_t broken(struct cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->broken = true;
	return 0;
}

uint64_t cursor_pointer_value(struct cursor *cursor, uint8_t encoding, uint8_t address_bytes)
{
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
		return address_bytes == sizeof(uint32_t) ? cursor_u32(cursor) : cursor_u64(cursor);
	case DW_EH_PE_uleb128:
		return cursor_uleb(cursor);
	case DW_EH_PE_udata2:
		return cursor_u16(cursor);
	case DW_EH_PE_udata4:
		return cursor_u32(cursor);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(cursor);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(cursor);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_u16(cursor);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_u32(cursor);
	default:
		return broken(cursor);
	}
}

uint64_t cursor_pointer(struct cursor *cursor, uint8_t encoding, uint8_t address_bytes)
{
	uint64_t base = cursor_address(cursor);
	uint64_t value = cursor_pointer_value(cursor, encoding, address_bytes);

	if (encoding & DW_EH_PE_indirect)
		return broken(cursor);
	switch (encoding & APPLICATION_MASK) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		/* A pointer into a discarded section is stored as plain 0. */
		return value && !cursor->broken ? base + value : 0;
	default:
		return broken(cursor);
	}
}
