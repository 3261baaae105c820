/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A dict has a table of keys. Its values are either in that table or, where instances of a type
 * share their keys, in the dict's own array. Versions differ in three places: the head of a table
 * of keys, where an instance has its dict, and where values begin.
 */
#include "cpython/python_objects.h"

#include "cpython/python_text.h"

#include <string.h>

enum {
	VERSION_3_11 = 0x030b,
	VERSION_3_12 = 0x030c,
	VERSION_3_13 = 0x030d,
	FLAG_INLINE_VALUES = 1 << 2, /* 3.13: values are behind the instance */
	FLAG_MANAGED_DICT = 1 << 4,  /* 3.11 and later: the dict is in front of the instance */
	FLAG_HEAP_TYPE = 1 << 9,
	KEYS_GENERAL = 0, /* dk_kind: entries include the hash of their key */
	BLOCK = 64,       /* entries that are read at a time */
	READ_BYTES = 256,
	MAX_TEXT_HEAD = 64,
};

#define LOWEST  4096ULL
#define HIGHEST (1ULL << 56)

/* A table of keys. */
struct keys {
	uint64_t entries; /* address of the first entry */
	uint32_t count;
	uint32_t words; /* words of an entry: hash, key and value, or without the hash */
};

/* A long read counts as several: what it gets takes time to be decoded as well. */
static bool read_at(struct python_objects *objects, uint64_t address, void *into, size_t len)
{
	size_t reads = 1 + len / READ_BYTES;

	if (address < LOWEST || address >= HIGHEST || !objects->reads_left)
		return false;
	objects->reads_left -= reads < objects->reads_left ? (uint32_t)reads : objects->reads_left;
	return objects->read(objects->ctx, address, into, len) == 0;
}

bool python_objects_bytes(struct python_objects *objects, uint64_t address, void *into, size_t len)
{
	return read_at(objects, address, into, len);
}

static bool is_address(uint64_t word)
{
	return word >= LOWEST && word < HIGHEST && word % sizeof(word) == 0;
}

uint64_t python_objects_pointer(struct python_objects *objects, uint64_t address)
{
	uint64_t word;

	return read_at(objects, address, &word, sizeof(word)) && is_address(word) ? word : 0;
}

uint64_t python_objects_reference(struct python_objects *objects, uint64_t address)
{
	const uint64_t tags = 3;
	uint64_t word;

	if (!read_at(objects, address, &word, sizeof(word)))
		return 0;
	return is_address(word & ~tags) ? word & ~tags : 0;
}

/* Up to 3.10: dk_refcnt, dk_size, dk_lookup, dk_usable, dk_nentries, dk_indices. */
static bool read_old_keys(struct python_objects *objects, uint64_t at, struct keys *ret_keys)
{
	uint64_t head[5], size, count;
	unsigned int width;

	if (!read_at(objects, at, head, sizeof(head)))
		return false;
	size = head[1];
	count = head[4];
	if (size > 4 * MAX_PYTHON_ENTRIES || count > size)
		return false;
	width = size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4;
	*ret_keys = (struct keys){at + sizeof(head) + size * width, (uint32_t)count, 3};
	return true;
}

/* 3.11 and later: dk_refcnt, dk_log2_size and dk_log2_index_bytes and dk_kind, dk_usable,
 * dk_nentries. */
static bool read_new_keys(struct python_objects *objects, uint64_t at, struct keys *ret_keys)
{
	uint8_t head[32];
	uint64_t count;

	if (!read_at(objects, at, head, sizeof(head)))
		return false;
	memcpy(&count, head + 24, sizeof(count));
	if (head[9] > 24 || head[8] > 24 || count > 1ULL << head[8])
		return false;
	*ret_keys = (struct keys){at + sizeof(head) + (1ULL << head[9]), (uint32_t)count,
	                          head[10] == KEYS_GENERAL ? 3 : 2};
	return true;
}

static bool read_keys(struct python_objects *objects, uint64_t at, struct keys *ret_keys)
{
	struct keys keys;
	bool whole = objects->process->version < VERSION_3_11 ? read_old_keys(objects, at, &keys)
	                                                      : read_new_keys(objects, at, &keys);

	if (!whole || keys.count > MAX_PYTHON_ENTRIES)
		return false;
	*ret_keys = keys;
	return true;
}

/* Reads the entries from `first` on, up to a block. Returns how many; 0 when they cannot be
 * read. */
static uint32_t read_block(struct python_objects *objects, const struct keys *keys, uint32_t first,
                           uint64_t words[3 * BLOCK])
{
	uint32_t left = keys->count - first, count = left < BLOCK ? left : BLOCK;
	size_t bytes = keys->words * sizeof(*words);

	return read_at(objects, keys->entries + first * bytes, words, count * bytes) ? count : 0;
}

void python_objects_each(struct python_objects *objects, uint64_t dict, python_entry_fn *fn,
                         void *ctx)
{
	uint64_t at = python_objects_pointer(objects, dict + objects->process->dict_keys);
	uint64_t words[3 * BLOCK];
	struct keys keys;
	uint32_t count;

	if (!read_keys(objects, at, &keys) || keys.words != 3)
		return;
	for (uint32_t first = 0; first < keys.count; first += count) {
		count = read_block(objects, &keys, first, words);
		if (!count)
			return;
		for (uint32_t i = 0; i < count; i++)
			if (is_address(words[3 * i + 2]))
				fn(words[3 * i], words[3 * i + 2], ctx);
	}
}

/* Reads the length, and the word that says how the characters are stored. False: unreadable, or the
 * string is not compact. */
static bool read_text_head(struct python_objects *objects, uint64_t text, uint64_t *ret_length,
                           uint32_t *ret_state)
{
	const struct python_process *process = objects->process;
	uint32_t bytes = process->text_state + sizeof(*ret_state);
	uint8_t head[MAX_TEXT_HEAD];

	if (bytes > sizeof(head) || process->text_length + sizeof(*ret_length) > bytes ||
	    !read_at(objects, text, head, bytes))
		return false;
	memcpy(ret_length, head + process->text_length, sizeof(*ret_length));
	memcpy(ret_state, head + process->text_state, sizeof(*ret_state));
	/* Compact: the characters follow directly behind the head. */
	return *ret_state >> ((process->ascii_shift - 1) & 31) & 1;
}

static bool is_ascii(const struct python_objects *objects, uint32_t state)
{
	return state >> (objects->process->ascii_shift & 31) & 1;
}

static bool is_text(struct python_objects *objects, uint64_t text, const char *wanted)
{
	size_t len = strlen(wanted);
	char characters[MAX_PYTHON_THREAD_NAME];
	uint64_t length;
	uint32_t state;

	return len <= sizeof(characters) && read_text_head(objects, text, &length, &state) &&
	       length == len && is_ascii(objects, state) &&
	       read_at(objects, text + objects->process->text_ascii, characters, len) &&
	       memcmp(characters, wanted, len) == 0;
}

bool python_objects_text(struct python_objects *objects, uint64_t text, size_t most,
                         struct buf *buf)
{
	const struct python_process *process = objects->process;
	uint8_t characters[4 * MAX_PYTHON_TEXT];
	uint64_t length;
	uint32_t state, width;

	if (!is_address(text) || !read_text_head(objects, text, &length, &state))
		return false;
	width = state >> (process->kind_shift & 31) & 7;
	bool ascii = is_ascii(objects, state), cut = length > most;
	if (!length || most > MAX_PYTHON_TEXT || (width != 1 && width != 2 && width != 4))
		return false;
	size_t bytes = (size_t)(cut ? most : length) * width;
	if (!read_at(objects, text + (ascii ? process->text_ascii : process->text_compact),
	             characters, bytes))
		return false;
	python_text_add(buf,
	                width == 2   ? TEXT_UCS_2
	                : width == 4 ? TEXT_UCS_4
	                : ascii      ? TEXT_ASCII
	                             : TEXT_LATIN_1,
	                characters, bytes, cut);
	return true;
}

/* Finds the index of a key, and the value beside it. */
static bool find_key(struct python_objects *objects, uint64_t at, const char *key,
                     uint32_t *ret_index, uint64_t *ret_value)
{
	uint64_t words[3 * BLOCK];
	struct keys keys;
	uint32_t count;

	if (!read_keys(objects, at, &keys))
		return false;
	for (uint32_t first = 0; first < keys.count; first += count) {
		count = read_block(objects, &keys, first, words);
		for (uint32_t i = 0; i < count; i++) {
			const uint64_t *value = &words[(i + 1) * keys.words - 1];

			if (!is_address(value[-1]) || !is_text(objects, value[-1], key))
				continue;
			*ret_index = first + i;
			*ret_value = is_address(*value) ? *value : 0;
			return true;
		}
		if (!count)
			return false;
	}
	return false;
}

/* Where the values of an array begin: from 3.13 on some bytes come before them. */
static uint64_t first_value(const struct python_objects *objects, uint64_t values)
{
	return values + (objects->process->version >= VERSION_3_13 ? 8 : 0);
}

/* Finds a value in the array of an instance or a dict whose table of keys is shared with others. */
static uint64_t find_shared(struct python_objects *objects, uint64_t keys, uint64_t values,
                            const char *name)
{
	uint64_t unused;

	if (keys != objects->name_keys) {
		objects->name_keys = 0;
		if (!find_key(objects, keys, name, &objects->name_index, &unused))
			return 0;
		objects->name_keys = keys;
	}
	return python_objects_pointer(objects, first_value(objects, values) +
	                                               objects->name_index * sizeof(uint64_t));
}

uint64_t python_objects_find(struct python_objects *objects, uint64_t dict, const char *key)
{
	const struct python_process *process = objects->process;
	uint64_t keys = python_objects_pointer(objects, dict + process->dict_keys);
	uint64_t values = python_objects_pointer(objects, dict + process->dict_values), value;
	uint32_t index;

	if (!keys)
		return 0;
	if (values)
		return find_shared(objects, keys, values, key);
	return find_key(objects, keys, key, &index, &value) ? value : 0;
}

/* Reads a type. The fields have the same distances in all versions. */
static bool read_type(struct python_objects *objects, uint64_t at)
{
	const struct python_process *process = objects->process;
	struct python_type *type = &objects->type;
	enum { BASIC_SIZE_BEFORE = 136, DICT_OFFSET_BEHIND = 120 };
	uint64_t flags = at + process->type_flags;

	if (!at || at == type->address)
		return at != 0;
	*type = (struct python_type){0};
	if (!read_at(objects, flags, &type->flags, sizeof(type->flags)) ||
	    !read_at(objects, flags - BASIC_SIZE_BEFORE, &type->basic_size,
	             sizeof(type->basic_size)) ||
	    !read_at(objects, flags + DICT_OFFSET_BEHIND, &type->dict_offset,
	             sizeof(type->dict_offset)))
		return false;
	if (type->flags & FLAG_HEAP_TYPE)
		type->cached_keys = python_objects_pointer(objects, at + process->type_cached_keys);
	type->address = at;
	return true;
}

/* From 3.13 on, values are behind the instance itself, and are valid until it gets another dict. */
static uint64_t find_inline(struct python_objects *objects, uint64_t object, const char *name)
{
	const struct python_type *type = &objects->type;
	uint64_t values = object + type->basic_size;
	uint8_t head[4]; /* capacity, size, embedded, valid */

	if (!(type->flags & FLAG_INLINE_VALUES) || type->basic_size > HIGHEST ||
	    !type->cached_keys || !read_at(objects, values, head, sizeof(head)) || head[3] != 1)
		return 0;
	return find_shared(objects, type->cached_keys, values, name);
}

/* In front of the instance is its dict or, until a dict is needed, its values: in 3.11 an array
 * whose address is one word before the dict's, in 3.12 an array whose address minus one is in the
 * dict's word. */
static uint64_t find_managed(struct python_objects *objects, uint64_t object, const char *name)
{
	const struct python_process *process = objects->process;
	const uint64_t keys = objects->type.cached_keys;
	uint64_t word, values = 0;

	if (!read_at(objects, object - (process->free_threaded ? 8 : 24), &word, sizeof(word)))
		return 0;
	if (process->version == VERSION_3_12 && word % 2) {
		values = word + 1;
		word = 0;
	}
	if (process->version == VERSION_3_11)
		values = python_objects_pointer(objects, object - 32);
	if (is_address(values) && keys)
		return find_shared(objects, keys, values, name);
	if (is_address(word))
		return python_objects_find(objects, word, name);
	return process->version >= VERSION_3_13 ? find_inline(objects, object, name) : 0;
}

uint64_t python_objects_attribute(struct python_objects *objects, uint64_t object, const char *name)
{
	const struct python_process *process = objects->process;
	uint64_t at = python_objects_pointer(objects, object + process->object_type), dict;

	if (!read_type(objects, at))
		return 0;
	if (process->version >= VERSION_3_11 && objects->type.flags & FLAG_MANAGED_DICT)
		return find_managed(objects, object, name);
	/* The offset is negative if instances vary in size; threads are not of such a type. */
	if (!objects->type.dict_offset || objects->type.dict_offset > UINT16_MAX)
		return 0;
	dict = python_objects_pointer(objects, object + objects->type.dict_offset);
	return dict ? python_objects_find(objects, dict, name) : 0;
}

uint64_t python_objects_variable(struct python_objects *objects, uint64_t module, const char *name)
{
	/* PyModuleObject.md_dict follows directly behind the common head of objects. */
	uint64_t dict = python_objects_pointer(objects, module + objects->process->object_type +
	                                                        sizeof(uint64_t));

	return dict ? python_objects_find(objects, dict, name) : 0;
}
