/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The description is an array of 64-bit words: cookie, version, whether the build is free-threaded,
 * then one group for each structure, with the structure's size first. The position of a word
 * differs from minor version to minor version.
 */
#include "python/python_described.h"

#include "python/python_version.h"

#include <errno.h>
#include <string.h>

static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};

enum { WORD_COOKIE, WORD_VERSION, WORD_FREE_THREADED, WORD_INTERPRETERS = 5, MOST_WORDS = 95 };
enum { DESCRIBED_313, DESCRIBED_314, DESCRIBED_VERSIONS };

/* The structures that the fields belong to. */
enum {
	OF_INTERPRETER,
	OF_THREAD,
	OF_FRAME,
	OF_CODE,
	OF_BYTES,
	OF_TEXT,
	OF_OBJECT,
	OF_TYPE,
	OF_DICT,
	STRUCTURES
};

struct column {
	uint16_t version;
	uint8_t words;            /* of the whole description */
	uint8_t gil;              /* word with the offset of the GIL's state in an interpreter */
	uint8_t size[STRUCTURES]; /* word with the size of each structure */
};

static const struct column columns[DESCRIBED_VERSIONS] = {
	[DESCRIBED_313] = {0x030d, 73, 15, {6, 19, 28, 34, 64, 67, 44, 46, 56}},
	[DESCRIBED_314] = {0x030e, MOST_WORDS, 16, {6, 22, 31, 39, 74, 77, 0, 0, 0}},
};

/* FIELD(name, structure, bytes, word in 3.13, word in 3.14); word 0: the description lacks it. */
#define FIELDS(FIELD)                                        \
	FIELD(interpreter_next, OF_INTERPRETER, 8, 8, 8)     \
	FIELD(interpreter_threads, OF_INTERPRETER, 8, 9, 9)  \
	FIELD(interpreter_gil, OF_INTERPRETER, 8, 14, 15)    \
	FIELD(thread_next, OF_THREAD, 8, 21, 24)             \
	FIELD(thread_frame, OF_THREAD, 8, 23, 26)            \
	FIELD(thread_id, OF_THREAD, 8, 24, 27)               \
	FIELD(thread_native_id, OF_THREAD, 8, 25, 28)        \
	FIELD(frame_previous, OF_FRAME, 8, 29, 32)           \
	FIELD(frame_code, OF_FRAME, 8, 30, 33)               \
	FIELD(frame_instruction, OF_FRAME, 8, 31, 34)        \
	FIELD(frame_owner, OF_FRAME, 1, 33, 36)              \
	FIELD(frame_tlbc, OF_FRAME, 4, 0, 38)                \
	FIELD(code_filename, OF_CODE, 8, 35, 40)             \
	FIELD(code_name, OF_CODE, 8, 36, 41)                 \
	FIELD(code_qualname, OF_CODE, 8, 37, 42)             \
	FIELD(code_lines, OF_CODE, 8, 38, 43)                \
	FIELD(code_first_line, OF_CODE, 4, 39, 44)           \
	FIELD(code_bytecode, OF_CODE, 1, 43, 48)             \
	FIELD(code_tlbc, OF_CODE, 8, 0, 49)                  \
	FIELD(bytes_length, OF_BYTES, 8, 65, 75)             \
	FIELD(bytes_data, OF_BYTES, 1, 66, 76)               \
	FIELD(text_state, OF_TEXT, 4, 68, 78)                \
	FIELD(text_length, OF_TEXT, 8, 69, 79)               \
	FIELD(text_ascii, OF_TEXT, 0, 70, 80)                \
	FIELD(interpreter_modules, OF_INTERPRETER, 8, 11, 0) \
	FIELD(object_type, OF_OBJECT, 8, 45, 0)              \
	FIELD(type_flags, OF_TYPE, 8, 49, 0)                 \
	FIELD(dict_keys, OF_DICT, 8, 57, 0)                  \
	FIELD(dict_values, OF_DICT, 8, 58, 0)

struct field {
	uint16_t into; /* struct python_process */
	uint8_t structure, bytes;
	uint8_t word[DESCRIBED_VERSIONS];
};

static const struct field fields[] = {
#define FIELD(name, structure, bytes, word_313, word_314) \
	{offsetof(struct python_process, name), structure, bytes, {word_313, word_314}},
	FIELDS(FIELD)
#undef FIELD
};

/* Reads offsets in the state of the GIL. The description gives them as offsets in the interpreter,
 * which that state is a part of. */
static int read_gil(const uint64_t *words, const struct column *column,
                    struct python_process *process)
{
	uint64_t start = words[column->gil];
	uint64_t locked = words[column->gil + 2] - start, holder = words[column->gil + 3] - start;

	if (locked > UINT8_MAX || holder > UINT8_MAX)
		return -EBADMSG;
	process->gil_locked = (uint16_t)locked;
	process->gil_holder = (uint16_t)holder;
	return 0;
}

static int read_field(const uint64_t *words, size_t version, const struct field *field,
                      struct python_process *process)
{
	uint64_t size = words[columns[version].size[field->structure]];
	uint64_t value = words[field->word[version]];

	if (!field->word[version])
		return 0;
	if (value > UINT16_MAX || size < field->bytes || value > size - field->bytes)
		return -EBADMSG;
	memcpy((uint8_t *)process + field->into, &(uint16_t){(uint16_t)value}, sizeof(uint16_t));
	return 0;
}

/* Adds what the description leaves out. */
static void add_text_state(struct python_process *process)
{
	/* In these builds bits cannot be written separately, so a whole byte says whether the text
	 * is interned. */
	bool whole_byte = process->free_threaded && process->version >= 0x030e;

	process->kind_shift = whole_byte ? 8 : 2;
	process->ascii_shift = process->kind_shift + 4;
	process->text_compact = process->text_ascii + 2 * sizeof(uint64_t);
}

/* The description has no group for PyHeapTypeObject. All objects begin alike, so the field is at a
 * fixed distance from object_type. */
static void add_cached_keys(struct python_process *process)
{
	if (process->object_type)
		process->type_cached_keys = process->object_type + 872;
}

static int read_words(const uint64_t *words, size_t version, struct python_process *ret_process)
{
	struct python_process process = {
		.version = columns[version].version,
		.entry = PYTHON_ENTRY_SHIM,
		.interpreters = words[WORD_INTERPRETERS],
		.free_threaded = words[WORD_FREE_THREADED] == 1,
	};

	if (words[WORD_FREE_THREADED] > 1)
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		int err = read_field(words, version, &fields[i], &process);

		if (err)
			return err;
	}
	int err = read_gil(words, &columns[version], &process);
	if (err)
		return err;
	add_text_state(&process);
	add_cached_keys(&process);
	*ret_process = process;
	return 0;
}

int python_described(const struct elf *elf, uint64_t runtime, struct python_process *ret_process)
{
	uint64_t words[MOST_WORDS];

	if (elf_read_address(elf, runtime, words, sizeof(cookie)) ||
	    memcmp(words, cookie, sizeof(cookie)) != 0)
		return -ENOENT;
	if (elf_read_address(elf, runtime, words, (WORD_VERSION + 1) * sizeof(*words)))
		return -EBADMSG;
	for (size_t i = 0; i < DESCRIBED_VERSIONS; i++) {
		if (!python_is_release(words[WORD_VERSION], columns[i].version))
			continue;
		if (elf_read_address(elf, runtime, words, columns[i].words * sizeof(*words)))
			return -EBADMSG;
		return read_words(words, i, ret_process);
	}
	return -ENOTSUP;
}
