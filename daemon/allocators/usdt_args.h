/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a static probe's arguments are, from the text that the assembler wrote into the probe's
 * note: "8@%rdi -4@$5 8@-8(%rbp)" on x86-64, "8@x0 -4@5 8@[sp, 16]" on arm64. Pure; text is
 * untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_USDT_ARGS = 12, USDT_NO_REGISTER = 0xff };

enum usdt_place { USDT_CONSTANT, USDT_REGISTER, USDT_MEMORY };

/* A constant is `value`. A register's value is its contents, shifted right by `shift` bits (%ah). A
 * value in memory is at base + index * scale + value. All are then truncated to `bytes`, and
 * extended again as `is_signed` says. */
struct usdt_arg {
	enum usdt_place place;
	uint8_t bytes; /* 1, 2, 4 or 8 */
	bool is_signed;
	uint8_t base, index; /* registers by their DWARF numbers, or USDT_NO_REGISTER */
	uint8_t scale, shift;
	int64_t value;
};

/* The number of arguments, or -ENOTSUP when one has a form not known here (floating point, relative
 * to a symbol), or -E2BIG. `machine` is EM_*. */
int usdt_args_parse(uint16_t machine, const char *string, struct usdt_arg ret_args[MAX_USDT_ARGS]);
