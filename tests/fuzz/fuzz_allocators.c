/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a program, and as the code of a program that has an allocator's functions. All
 * probed places are in the file.
 */
#include "allocators/allocators.h"
#include "tests/fuzz/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTION = 0x40 };

static const char names[] = "\0malloc\0free\0_Znwm\0_ZdlPv\0__cxa_throw\0realloc";

static struct program *with_functions(const uint8_t *data, size_t size, uint16_t machine)
{
	static const uint32_t offsets[PROGRAM_SYMBOLS] = {0, 1, 8, 13, 19, 26, 38};
	struct program *program = program_new(data, size, machine, names, sizeof(names));

	for (size_t i = 1; program && i < PROGRAM_SYMBOLS; i++)
		program->symbols[i] =
			program_symbol(offsets[i], STT_FUNC, (i - 1) * FUNCTION, FUNCTION);
	return program;
}

/* The checks of the daemon accept every answer that a reader process would give. */
static void check(const struct elf *elf, size_t len)
{
	static struct heap_allocator found;
	struct heap_survey survey;

	if (heap_survey_read(elf, &survey) == 0 &&
	    heap_survey_check((const uint8_t *)&survey, sizeof(survey)))
		abort();
	if (heap_allocator_read(elf, &found) == 0 &&
	    heap_allocator_check((const uint8_t *)&found, sizeof(found), len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64};
	struct elf *elf;

	if (elf_open_bytes(data, size, &elf) == 0) {
		check(elf, size);
		elf_free(elf);
	}
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		_cleanup_free_ struct program *program = with_functions(data, size, machines[i]);

		if (!program)
			return 0;
		if (elf_open_bytes(program, sizeof(*program) + size, &elf) == 0) {
			check(elf, sizeof(*program) + size);
			elf_free(elf);
		}
	}
	return 0;
}
