/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses operands as compilers give them to the assembler, in AT&T syntax and in Arm's.
 */
#include "allocators/usdt_args.h"

#include "base/text.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { ARM64_SP = 31, X86_REGISTERS = 16, X86_WIDTHS = 5 };

/* By DWARF number: the whole register, its lower half, quarter and byte, and its second byte. */
static const char x86_names[X86_REGISTERS][X86_WIDTHS][5] = {
	{"rax", "eax", "ax", "al", "ah"},    {"rdx", "edx", "dx", "dl", "dh"},
	{"rcx", "ecx", "cx", "cl", "ch"},    {"rbx", "ebx", "bx", "bl", "bh"},
	{"rsi", "esi", "si", "sil", ""},     {"rdi", "edi", "di", "dil", ""},
	{"rbp", "ebp", "bp", "bpl", ""},     {"rsp", "esp", "sp", "spl", ""},
	{"r8", "r8d", "r8w", "r8b", ""},     {"r9", "r9d", "r9w", "r9b", ""},
	{"r10", "r10d", "r10w", "r10b", ""}, {"r11", "r11d", "r11w", "r11b", ""},
	{"r12", "r12d", "r12w", "r12b", ""}, {"r13", "r13d", "r13w", "r13b", ""},
	{"r14", "r14d", "r14w", "r14b", ""}, {"r15", "r15d", "r15w", "r15b", ""},
};

static void skip_blanks(struct text *text)
{
	while (text_char(text, ' ') || text_char(text, '\t'))
		;
}

/* -8, 16, 0x10. Constants of 64 bits may be written without a sign. */
static bool read_signed(struct text *text, int64_t *ret_value)
{
	struct text at = *text;
	bool minus = text_char(&at, '-');
	uint64_t value;
	bool hex = at.end - at.at > 2 && at.at[0] == '0' && at.at[1] == 'x';

	if (hex)
		at.at += 2;
	if (!(hex ? text_hex(&at, &value) : text_decimal(&at, &value)))
		return false;
	*ret_value = (int64_t)(minus ? -value : value);
	*text = at;
	return true;
}

static struct text read_name(struct text *text)
{
	struct text name = {text->at, text->at};

	while (name.end < text->end &&
	       ((*name.end >= 'a' && *name.end <= 'z') || (*name.end >= '0' && *name.end <= '9')))
		name.end++;
	text->at = name.end;
	return name;
}

static bool x86_register(struct text *text, uint8_t *ret_register, uint8_t *ret_shift)
{
	if (!text_char(text, '%'))
		return false;
	struct text name = read_name(text);
	for (uint8_t i = 0; name.at < name.end && i < X86_REGISTERS; i++) {
		for (uint8_t width = 0; width < X86_WIDTHS; width++) {
			if (!text_equals(name, x86_names[i][width]))
				continue;
			*ret_register = i;
			*ret_shift = width == X86_WIDTHS - 1 ? 8 : 0;
			return true;
		}
	}
	return false;
}

/* Base and index are whole registers. */
static bool x86_whole(struct text *text, uint8_t *ret_register)
{
	struct text at = *text;
	uint8_t shift;

	if (!x86_register(text, ret_register, &shift))
		return false;
	return text_equals((struct text){at.at + 1, text->at}, x86_names[*ret_register][0]);
}

/* 8(%rbp), (%rax,%rcx,4), (,%rcx,8) */
static bool x86_memory(struct text *text, struct usdt_arg *arg)
{
	int64_t scale = 1;

	if (text->at < text->end && *text->at != '(' && !read_signed(text, &arg->value))
		return false;
	if (!text_char(text, '('))
		return false;
	if (text->at < text->end && *text->at == '%' && !x86_whole(text, &arg->base))
		return false;
	if (text_char(text, ',')) {
		if (!x86_whole(text, &arg->index))
			return false;
		if (text_char(text, ',') && !read_signed(text, &scale))
			return false;
		if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
			return false;
	}
	arg->place = USDT_MEMORY;
	arg->scale = (uint8_t)scale;
	return text_char(text, ')') &&
	       (arg->base != USDT_NO_REGISTER || arg->index != USDT_NO_REGISTER);
}

static bool x86_operand(struct text *text, struct usdt_arg *arg)
{
	if (text_char(text, '$')) {
		arg->place = USDT_CONSTANT;
		return read_signed(text, &arg->value);
	}
	if (text->at < text->end && *text->at == '%') {
		arg->place = USDT_REGISTER;
		return x86_register(text, &arg->base, &arg->shift);
	}
	return x86_memory(text, arg);
}

/* x0 to x30, w0 to w30, sp */
static bool arm64_register(struct text *text, uint8_t *ret_register)
{
	struct text name = read_name(text);
	uint64_t number;

	if (text_equals(name, "sp")) {
		*ret_register = ARM64_SP;
		return true;
	}
	if ((!text_char(&name, 'x') && !text_char(&name, 'w')) || !text_decimal(&name, &number) ||
	    name.at != name.end || number >= ARM64_SP)
		return false;
	*ret_register = (uint8_t)number;
	return true;
}

/* [sp], [x29, -16], [x0, x1], [x0, x1, lsl 3], and with # before numbers */
static bool arm64_memory(struct text *text, struct usdt_arg *arg)
{
	int64_t shift = 0;

	arg->place = USDT_MEMORY;
	if (!text_char(text, '[') || !arm64_register(text, &arg->base))
		return false;
	if (text_char(text, ',')) {
		skip_blanks(text);
		if (text->at < text->end && *text->at == 'x') {
			if (!arm64_register(text, &arg->index))
				return false;
		} else {
			text_char(text, '#');
			if (!read_signed(text, &arg->value))
				return false;
		}
	}
	if (arg->index != USDT_NO_REGISTER && text_char(text, ',')) {
		skip_blanks(text);
		if (!text_equals(read_name(text), "lsl"))
			return false;
		skip_blanks(text);
		text_char(text, '#');
		if (!read_signed(text, &shift) || shift < 0 || shift > 4)
			return false;
	}
	arg->scale = (uint8_t)(1U << shift);
	return text_char(text, ']');
}

static bool arm64_operand(struct text *text, struct usdt_arg *arg)
{
	struct text at = *text;

	if (at.at < at.end && *at.at == '[')
		return arm64_memory(text, arg);
	text_char(text, '#');
	arg->place = USDT_CONSTANT;
	if (read_signed(text, &arg->value))
		return true;
	struct text name = read_name(&at);
	if (text_equals(name, "xzr") || text_equals(name, "wzr")) {
		*text = at;
		return true;
	}
	arg->place = USDT_REGISTER;
	return arm64_register(text, &arg->base);
}

static bool read_arg(uint16_t machine, struct text *text, struct usdt_arg *ret_arg)
{
	uint64_t bytes;

	*ret_arg =
		(struct usdt_arg){.base = USDT_NO_REGISTER, .index = USDT_NO_REGISTER, .scale = 1};
	ret_arg->is_signed = text_char(text, '-');
	if (!text_decimal(text, &bytes) || !text_char(text, '@') ||
	    (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return false;
	ret_arg->bytes = (uint8_t)bytes;
	if (!(machine == EM_X86_64 ? x86_operand(text, ret_arg) : arm64_operand(text, ret_arg)))
		return false;
	return text->at == text->end || *text->at == ' ' || *text->at == '\t';
}

int usdt_args_parse(uint16_t machine, const char *string, struct usdt_arg ret_args[MAX_USDT_ARGS])
{
	struct text text = text_of(string, strlen(string));
	int count = 0;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return -ENOTSUP;
	for (skip_blanks(&text); text.at < text.end; skip_blanks(&text)) {
		if (count == MAX_USDT_ARGS)
			return -E2BIG;
		if (!read_arg(machine, &text, &ret_args[count++]))
			return -ENOTSUP;
	}
	return count;
}
