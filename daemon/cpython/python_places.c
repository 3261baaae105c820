/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cpython/python_places.h"

#include "cpython/python_lines.h"

#include <stdlib.h>

enum {
	MAX_NAME = 256,
	MAX_TABLE_BYTES = 1 << 16, /* of lines; a function with more has that of its beginning */
	MAX_CODE_BYTES = 1 << 24,
};

static bool read_name(struct python_objects *objects, uint64_t code, struct buf *name)
{
	const struct python_process *process = objects->process;
	uint64_t text = python_objects_pointer(objects, code + process->code_qualname);

	return text && python_objects_text(objects, text, MAX_NAME, name);
}

static uint32_t read_line(struct python_objects *objects, uint64_t code, uint32_t first_line,
                          uint64_t instruction)
{
	const struct python_process *process = objects->process;
	uint64_t bytes = python_objects_pointer(objects, code + process->code_lines), len;
	uint64_t bytecode = code + process->code_bytecode;
	_cleanup_free_ uint8_t *table = NULL;

	if (instruction < bytecode || instruction - bytecode > MAX_CODE_BYTES || !bytes ||
	    !python_objects_bytes(objects, bytes + process->bytes_length, &len, sizeof(len)) ||
	    !len || len > MAX_TABLE_BYTES)
		return first_line;
	table = malloc(len);
	if (!table || !python_objects_bytes(objects, bytes + process->bytes_data, table, len))
		return first_line;
	return python_line(process->version, table, len, line_start(first_line),
	                   (uint32_t)(instruction - bytecode));
}

bool python_place_read(struct python_objects *objects, uint64_t code, uint64_t instruction,
                       struct python_place *ret_place)
{
	const struct python_process *process = objects->process;
	uint32_t first_line;
	uint64_t file;

	*ret_place = (struct python_place){BUF_INIT, BUF_INIT, 0, 0};
	if (!code || !read_name(objects, code, &ret_place->function) ||
	    !python_objects_bytes(objects, code + process->code_first_line, &first_line,
	                          sizeof(first_line)))
		return false;
	file = python_objects_pointer(objects, code + process->code_filename);
	if (file)
		python_objects_text(objects, file, MAX_PYTHON_TEXT, &ret_place->file);
	ret_place->line = read_line(objects, code, first_line, instruction);
	ret_place->first_line = first_line;
	return true;
}

void python_place_release(struct python_place *place)
{
	buf_release(&place->function);
	buf_release(&place->file);
}
