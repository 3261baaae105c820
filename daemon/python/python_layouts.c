/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One entry per version, as a compiler lays out the structures of the headers for a 64-bit machine.
 */
#include "python/python_layouts.h"

#include <stddef.h>

/* PyBytesObject, struct _gil_runtime_state up to its locks, and what the names of threads need. */
#define SAME_IN_ALL                                                                                \
	.bytes_length = 16, .bytes_data = 32, .gil_holder = 8, .gil_locked = 16, .object_type = 8, \
	.type_flags = 168, .dict_keys = 32, .dict_values = 40
/* Up to 3.11 strings had a wchar_t form as well. */
#define TEXT_TO_311                                                                \
	.text_length = 16, .text_state = 32, .text_ascii = 48, .text_compact = 72, \
	.kind_shift = 2, .ascii_shift = 6
#define TEXT_FROM_312                                                              \
	.text_length = 16, .text_state = 32, .text_ascii = 40, .text_compact = 56, \
	.kind_shift = 2, .ascii_shift = 6
/* struct pyinterpreters, PyThreadState, PyFrameObject and PyCodeObject of the versions in which
 * frames are objects. */
#define FRAMES_ARE_OBJECTS                                                                     \
	.interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8, .thread_next = 8, \
	.thread_id = 176, .frame_previous = 24, .frame_code = 32, .code_filename = 104,        \
	.code_name = 112, .code_first_line = 40, .code_lines = 120

static const struct python_process layouts[] = {
	{
		.version = 0x0308,
		.interpreter_modules = 56,
		.type_cached_keys = 872,
		.entry = PYTHON_ENTRY_LOOP,
		.last_unit = 1,
		.gil = 1152,
		.thread_frame = 24,
		.frame_instruction = 104,
		FRAMES_ARE_OBJECTS,
		TEXT_TO_311,
		SAME_IN_ALL,
	},
	{
		.version = 0x0309,
		.interpreter_modules = 856,
		.type_cached_keys = 864,
		.entry = PYTHON_ENTRY_LOOP,
		.last_unit = 1,
		.gil = 352,
		.thread_frame = 24,
		.frame_instruction = 104,
		FRAMES_ARE_OBJECTS,
		TEXT_TO_311,
		SAME_IN_ALL,
	},
	{
		.version = 0x030a,
		.interpreter_modules = 856,
		.type_cached_keys = 872,
		.entry = PYTHON_ENTRY_EACH,
		.last_unit = 2,
		.gil = 352,
		.thread_frame = 48,
		.thread_top_frame = 24,
		.cframe_previous = 8,
		.frame_instruction = 96,
		FRAMES_ARE_OBJECTS,
		TEXT_TO_311,
		SAME_IN_ALL,
	},
	{
		.version = 0x030b,
		.interpreter_modules = 888,
		.type_cached_keys = 872,
		.entry = PYTHON_ENTRY_RUN,
		.interpreters = 40,
		.gil = 360,
		.interpreter_threads = 16,
		.thread_next = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_frame = 56,
		.cframe_current = 8,
		.cframe_previous = 16,
		.frame_previous = 48,
		.frame_code = 32,
		.frame_instruction = 56,
		.frame_owner = 69,
		.frame_entry = 68,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_first_line = 72,
		.code_lines = 136,
		.code_bytecode = 184,
		TEXT_TO_311,
		SAME_IN_ALL,
	},
	{
		.version = 0x030c,
		.interpreter_modules = 944,
		.type_cached_keys = 880,
		.entry = PYTHON_ENTRY_SHIM,
		.interpreters = 40,
		.interpreter_threads = 72,
		.interpreter_gil = 384,
		.thread_next = 8,
		.thread_id = 136,
		.thread_native_id = 144,
		.thread_frame = 56,
		.cframe_previous = 8,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_owner = 70,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_first_line = 68,
		.code_lines = 136,
		.code_bytecode = 192,
		TEXT_FROM_312,
		SAME_IN_ALL,
	},
};

const struct python_process *python_layout(uint32_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].version == version)
			return &layouts[i];
	}
	return NULL;
}
