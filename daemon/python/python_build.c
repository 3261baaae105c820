/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file contains CPython when it defines the variable _PyRuntime, which every CPython exports for
 * its extensions. How the rest is found depends on the version.
 */
#include "python/python_build.h"

#include "python/python_described.h"
#include "python/python_layouts.h"
#include "python/python_loop.h"
#include "python/python_version.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	MAX_FRAME_OFFSET = 120, /* the kernel half reads this far, plus a word, at once */
	MAX_CODE_OFFSET = 248,
};

struct variables {
	uint64_t runtime, version; /* 0: not found */
};

static int note_variable(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct variables *found = ctx;

	(void)size, (void)global;
	if (!strcmp(name, "_PyRuntime"))
		found->runtime = address;
	else if (!strcmp(name, "Py_Version"))
		found->version = address;
	return found->runtime && found->version;
}

static int read_table(const struct elf *elf, uint64_t variable, struct python_process *ret_process)
{
	uint32_t version;
	int err = python_version_find(elf, variable, &version);

	if (err)
		return err;
	const struct python_process *layout = python_layout(version);
	if (!layout)
		return -ENOTSUP;
	*ret_process = *layout;
	return 0;
}

bool python_build_is_sound(const struct python_process *process)
{
	const uint16_t words[] = {
		process->interpreter_next,  process->interpreter_threads,
		process->interpreter_gil,   process->thread_next,
		process->thread_id,         process->thread_frame,
		process->frame_previous,    process->frame_code,
		process->frame_instruction, process->code_filename,
		process->code_name,         process->code_qualname,
		process->code_lines,        process->code_tlbc,
		process->text_length,       process->bytes_length,
		process->gil_holder,        process->interpreter_modules,
		process->object_type,       process->type_flags,
		process->type_cached_keys,  process->dict_keys,
		process->dict_values,
	};
	const uint16_t frame[] = {process->frame_previous, process->frame_code,
	                          process->frame_instruction, process->frame_owner,
	                          process->frame_tlbc};
	const uint16_t code[] = {process->code_filename, process->code_name,
	                         process->code_qualname, process->code_first_line,
	                         process->code_lines,    process->code_tlbc};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (words[i] % sizeof(uint64_t))
			return false;
	}
	for (size_t i = 0; i < sizeof(frame) / sizeof(*frame); i++) {
		if (frame[i] > MAX_FRAME_OFFSET)
			return false;
	}
	for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++) {
		if (code[i] > MAX_CODE_OFFSET)
			return false;
	}
	if (process->entry < PYTHON_ENTRY_LOOP || process->entry > PYTHON_ENTRY_SHIM)
		return false;
	return process->interpreter_threads && process->thread_id && process->thread_frame &&
	       process->frame_previous && process->frame_instruction && process->code_filename &&
	       process->code_name && process->code_lines && process->code_first_line &&
	       process->text_length && process->text_state && process->text_ascii &&
	       process->bytes_length && process->bytes_data;
}

int python_build_read(const struct elf *elf, struct python_process *ret_process)
{
	struct variables found = {0};
	struct python_process process;
	int err = elf_each_variable(elf, note_variable, &found);

	if (err < 0 && err != -ENOEXEC)
		return err;
	if (!found.runtime)
		return -ENOENT;
	if (elf_machine(elf) != EM_X86_64 && elf_machine(elf) != EM_AARCH64)
		return -ENOTSUP;
	err = python_described(elf, found.runtime, &process);
	if (err == -ENOENT)
		err = read_table(elf, found.version, &process);
	if (!err && process.entry == PYTHON_ENTRY_LOOP)
		err = python_loop_find(elf, process.loops);
	if (err)
		return err;
	if (!python_build_is_sound(&process))
		return -EBADMSG;
	process.interpreters += found.runtime;
	if (process.gil)
		process.gil += found.runtime;
	*ret_process = process;
	return 0;
}

void python_build_move(struct python_process *process, uint64_t bias)
{
	process->interpreters += bias;
	if (process->gil)
		process->gil += bias;
	for (size_t i = 0; i < PYTHON_LOOPS && process->loops[i][1]; i++) {
		process->loops[i][0] += bias;
		process->loops[i][1] += bias;
	}
}
