/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a static probe's arguments are, from what the assembler was told to write down:
 * "8@%rdi -4@$5 8@-8(%rbp)" of x86-64, "8@x0 -4@5 8@[sp, 16]" of arm64. Pure; text is untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_USDT_ARGS = 12, USDT_NO_REGISTER = 0xff };

enum usdt_place { USDT_CONSTANT, USDT_REGISTER, USDT_MEMORY };

/* A constant is `value`. A register's is what it holds, moved right by `shift` bits (%ah). One in
 * memory is at base + index * scale + value. All are then cut to `bytes`, and extended by sign. */
struct usdt_arg {
	enum usdt_place place;
	uint8_t bytes; /* 1, 2, 4 or 8 */
	bool is_signed;
	uint8_t base, index; /* registers by their DWARF numbers, or USDT_NO_REGISTER */
	uint8_t scale, shift;
	int64_t value;
};

/* How many there are, or -ENOTSUP when one is of a form not known here (floating point, relative to
 * a symbol), or -E2BIG. `machine` is EM_*. */
int usdt_args_parse(uint16_t machine, const char *string, struct usdt_arg ret_args[MAX_USDT_ARGS]);
