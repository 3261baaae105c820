/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct cfi_value - what an expression computes, with symbols in place of values that only the
 * running process knows. It covers the few forms that rows can hold, and the steps that lead to
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BASE_CFA = 256 }; /* above all register numbers, which a row stores in one byte */

enum cfi_value_kind {
	VALUE_CONST,  /* offset */
	VALUE_BASE,   /* base + offset */
	VALUE_DEREF,  /* *(base + offset) + add */
	VALUE_PC_LOW, /* pc & 15 */
	VALUE_PAST,   /* 1 where pc & 15 >= offset, else 0 */
	VALUE_WORD,   /* 8 where pc & 15 >= offset, else 0 */
	VALUE_PLT,    /* rsp + 8 + VALUE_WORD */
};

struct cfi_value {
	enum cfi_value_kind kind;
	uint16_t base;
	int64_t offset, add;
};

/* Both return false when no form covers the result. */
bool cfi_value_add(struct cfi_value *value, uint64_t amount);
/* left = left op right; `op` is a DW_OP_ number. */
bool cfi_value_combine(struct cfi_value *left, uint8_t op, const struct cfi_value *right);
