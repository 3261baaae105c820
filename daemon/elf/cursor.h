/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct cursor - reads the variable-length pieces of DWARF and never goes past their end. A read
 * that would do so returns 0 and sets `broken`; all later reads return 0 too, so one check after
 * several reads is enough. Values are in the byte order of this machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	uint64_t address; /* own address of `end`, which does not change when `at` advances */
	bool broken;
};

static inline struct cursor cursor_over(const uint8_t *bytes, size_t len, uint64_t address)
{
	return (struct cursor){
		.at = bytes, .end = len ? bytes + len : bytes, .address = address + len};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Where `at` is in the file's own addresses. */
static inline uint64_t cursor_address(const struct cursor *cursor)
{
	return cursor->address - cursor_left(cursor);
}

/* NULL when fewer bytes than that are left. That breaks the cursor. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t len)
{
	const uint8_t *bytes = cursor->at;

	if (len > cursor_left(cursor)) {
		cursor->at = cursor->end;
		cursor->broken = true;
		return NULL;
	}
	cursor->at += len;
	return bytes;
}

#define CURSOR_READ(name, type)                                             \
	static inline type cursor_##name(struct cursor *cursor)             \
	{                                                                   \
		type value = 0;                                             \
		const uint8_t *bytes = cursor_bytes(cursor, sizeof(value)); \
		if (bytes)                                                  \
			memcpy(&value, bytes, sizeof(value));               \
		return value;                                               \
	}
CURSOR_READ(u8, uint8_t)
CURSOR_READ(u16, uint16_t)
CURSOR_READ(u32, uint32_t)
CURSOR_READ(u64, uint64_t)
#undef CURSOR_READ

/* LEB128. Bits above the 64th are dropped, because some producers pad with them. */
uint64_t cursor_uleb(struct cursor *cursor);
int64_t cursor_sleb(struct cursor *cursor);

/* A pointer in one of the DW_EH_PE_ encodings that can be resolved without the process: absolute or
 * relative to the pointer itself. Other encodings break the cursor. */
uint64_t cursor_pointer(struct cursor *cursor, uint8_t encoding, uint8_t address_bytes);
/* The same without adding the base: for a length, or for a pointer that is skipped. */
uint64_t cursor_pointer_value(struct cursor *cursor, uint8_t encoding, uint8_t address_bytes);
