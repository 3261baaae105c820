/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an executable, and as the data, texts and code of an executable with CPython's
 * symbols. An accepted description never leads the kernel half beyond what it reads.
 */
#include "python/python_build.h"
#include "tests/fuzz/program.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x80, TEXT = 0x400 };

static const char names[] = "\0_PyRuntime\0Py_Version\0_PyEval_EvalFrameDefault";

static struct program *with_python(const uint8_t *data, size_t size, bool with_version)
{
	struct program *program = program_new(data, size, EM_X86_64, names, sizeof(names));

	if (!program)
		return NULL;
	program->symbols[1] = program_symbol(1, STT_OBJECT, 0, 8);
	if (with_version)
		program->symbols[2] = program_symbol(12, STT_OBJECT, 8, 8);
	program->symbols[3] =
		program_symbol(23, STT_FUNC, CODE, TEXT - CODE < size ? TEXT - CODE : size);
	return program;
}

static void check(const struct elf *elf)
{
	struct python_process process;
	int result = python_build_read(elf, &process);

	if (result) {
		if (result != -ENOENT && result != -ENOTSUP && result != -EBADMSG &&
		    result != -ENOMEM)
			abort();
		return;
	}
	if (process.version < 0x0308 || process.version > 0x030e || !process.entry ||
	    process.entry > PYTHON_ENTRY_SHIM || process.frame_previous > 120 ||
	    process.frame_code > 120 || process.frame_instruction > 120 ||
	    process.frame_owner > 120 || process.frame_entry > 120 || process.frame_tlbc > 120 ||
	    process.code_filename > 248 || process.code_name > 248 || process.code_lines > 248 ||
	    process.code_qualname > 248 || process.code_first_line > 248 || process.code_tlbc > 248)
		abort();
	for (size_t i = 0; i < PYTHON_LOOPS; i++) {
		if (process.loops[i][0] > process.loops[i][1])
			abort();
	}
	python_build_move(&process, UINT64_MAX - 5);
}

static void check_wrapped(const uint8_t *data, size_t size, bool with_version)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_free_ struct program *program = with_python(data, size, with_version);

	if (program && elf_open_bytes(program, sizeof(*program) + size, &elf) == 0)
		check(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	if (elf_open_bytes(data, size, &elf) == 0)
		check(elf);
	check_wrapped(data, size, false);
	check_wrapped(data, size, true);
	return 0;
}
