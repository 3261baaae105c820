/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decodes from the first instruction to the last: compilers for this machine put no data among the
 * instructions.
 */
#include "python/python_jumps.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>

enum { MAX_CODE_BYTES = 4 << 20 }; /* the loop of a debug build with every check has 0.3 MiB */

/* Operands are not needed. How to decode without them depends on the version of the
 * disassembler. */
#ifdef ZYDIS_MAX_OPERAND_COUNT_VISIBLE
static bool init(ZydisDecoder *decoder)
{
	return ZYAN_SUCCESS(
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

static bool decode(const ZydisDecoder *decoder, const uint8_t *code, size_t len,
                   ZydisDecodedInstruction *ret_instruction)
{
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeInstruction(decoder, NULL, code, len, ret_instruction));
}
#else
static bool init(ZydisDecoder *decoder)
{
	return ZYAN_SUCCESS(
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64));
}

static bool decode(const ZydisDecoder *decoder, const uint8_t *code, size_t len,
                   ZydisDecodedInstruction *ret_instruction)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(decoder, code, len, ret_instruction));
}
#endif

static bool is_jump(const ZydisDecodedInstruction *instruction)
{
	return (instruction->meta.category == ZYDIS_CATEGORY_COND_BR ||
	        instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
	       instruction->raw.imm[0].is_relative;
}

static int each_jump(const uint8_t *code, size_t len, uint64_t address, python_jump_fn *fn,
                     void *ctx)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	size_t at = 0;

	if (!init(&decoder))
		return 0;
	while (at < len) {
		if (!decode(&decoder, code + at, len - at, &instruction)) {
			at++;
			continue;
		}
		at += instruction.length;
		if (!is_jump(&instruction))
			continue;
		int result = fn(address + at + (uint64_t)instruction.raw.imm[0].value.s, ctx);
		if (result)
			return result;
	}
	return 0;
}

int python_jumps(const struct elf *elf, uint64_t start, uint64_t end, python_jump_fn *fn, void *ctx)
{
	if (elf_machine(elf) != EM_X86_64)
		return 0;
	if (end <= start || end - start > MAX_CODE_BYTES)
		return -EBADMSG;
	_cleanup_free_ uint8_t *code = malloc(end - start);
	if (!code)
		return -ENOMEM;
	if (elf_read_address(elf, start, code, end - start))
		return -EBADMSG;
	return each_jump(code, end - start, start, fn, ctx);
}
