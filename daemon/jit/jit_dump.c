/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines come in a record before that of their code.
 */
#include "jit/jit_dump.h"

#include "jit/jit_lines.h"

#include <errno.h>
#include <string.h>

enum { MAGIC = 0x4a695444, VERSION = 1 };
enum record_id { CODE_LOAD = 0, CODE_DEBUG_INFO = 2 };

struct header {
	uint32_t magic, version, total_size, machine, padding, pid;
	uint64_t timestamp, flags;
};

struct record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct code_load {
	struct record record;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	/* The name, its NUL, and the code follow. */
};

struct debug_info {
	struct record record;
	uint64_t address, count;
	/* The entries follow. */
};

struct debug_entry {
	uint64_t address;
	uint32_t line, discriminator;
	/* The name of the file and its NUL follow. */
};

/* V8 and LLVM give addresses of lines as they are in the ELF file that `perf inject` makes of the
 * code, behind its header; others give them as they are. In a file of the first kind no row is
 * below the header, or for V8 one byte below. V8, src/diagnostics/perf-jit.cc; LLVM,
 * PerfJITEventListener.cpp. */
enum { ELF_OFFSET = 0x40 };

/* A file name that stands for that of the entry before. */
static const char same_file[] = "\xff";

size_t jit_dump_header(const uint8_t *bytes, size_t len)
{
	struct header header;

	if (len < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	return header.magic == MAGIC && header.version == VERSION &&
	                       header.total_size >= sizeof(header)
	               ? header.total_size
	               : 0;
}

/* Length of the text that ends with a NUL within the bytes; -1: none does. */
static ssize_t text_len(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = memchr(bytes, '\0', len);

	return end ? end - bytes : -1;
}

/* What is being read of a file's bytes. */
struct dump {
	struct jit_codes *told;
	bool *has_low_rows;
	struct jit_lines *lines; /* of code whose record follows; NULL: none */
	size_t lines_at;         /* where their record begins */
};

/* V8's baseline compiler gives offsets in bytecode in the place of addresses. */
static bool is_baseline(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon[1] == '^';
}

/* -EAGAIN: the bytes end too early. */
static int read_code(struct dump *dump, const uint8_t *bytes, size_t len)
{
	struct code_load load;
	const char *name = (const char *)bytes + sizeof(load);
	ssize_t name_len;

	if (len < sizeof(load))
		return -EAGAIN;
	memcpy(&load, bytes, sizeof(load));
	name_len = text_len(bytes + sizeof(load), len - sizeof(load));
	if (name_len < 0)
		return -EAGAIN;
	if (dump->lines && (dump->lines->code != load.address || is_baseline(name))) {
		jit_lines_free(dump->lines);
		dump->lines = NULL;
	}
	return name_len ? jit_codes_append(dump->told, load.address, load.size, name,
	                                   (size_t)name_len, TAKE_PTR(dump->lines))
	                : 0;
}

static int read_entries(struct dump *dump, const uint8_t *bytes, size_t len, uint64_t count)
{
	uint64_t offset = 0;
	int err = 0;

	for (uint64_t i = 0; i < count && i < JIT_DUMP_LINES_EACH && !err; i++) {
		struct debug_entry entry;
		const char *file = (const char *)bytes + sizeof(entry);
		ssize_t file_len = len < sizeof(entry)
		                           ? -1
		                           : text_len(bytes + sizeof(entry), len - sizeof(entry));

		if (file_len < 0)
			break;
		memcpy(&entry, bytes, sizeof(entry));
		if (!i && entry.address - dump->lines->code < ELF_OFFSET - 1)
			*dump->has_low_rows = true;
		if (!i && !*dump->has_low_rows)
			offset = ELF_OFFSET;
		err = jit_lines_add(dump->lines, entry.address - offset, entry.line,
		                    strcmp(file, same_file) ? file : NULL);
		bytes += sizeof(entry) + (size_t)file_len + 1;
		len -= sizeof(entry) + (size_t)file_len + 1;
	}
	return err;
}

static int read_lines(struct dump *dump, const uint8_t *bytes, size_t len)
{
	struct debug_info info;

	if (len < sizeof(info))
		return -EAGAIN;
	memcpy(&info, bytes, sizeof(info));
	jit_lines_free(dump->lines);
	dump->lines = jit_lines_new(info.address);
	return dump->lines
	               ? read_entries(dump, bytes + sizeof(info), len - sizeof(info), info.count)
	               : -ENOMEM;
}

/* Reads the record at the beginning of the bytes, of which there may be fewer than it has. */
static int read_record(struct dump *dump, const uint8_t *bytes, size_t len, size_t at,
                       struct record *ret_record)
{
	size_t left = len - at;
	bool is_whole;
	int err = 0;

	if (left < sizeof(*ret_record))
		return -EAGAIN;
	memcpy(ret_record, bytes + at, sizeof(*ret_record));
	if (ret_record->total_size < sizeof(*ret_record))
		return -EBADMSG;
	is_whole = ret_record->total_size <= left;
	if (ret_record->id == CODE_LOAD)
		err = read_code(dump, bytes + at, is_whole ? ret_record->total_size : left);
	if (ret_record->id == CODE_DEBUG_INFO) {
		dump->lines_at = at;
		err = is_whole ? read_lines(dump, bytes + at, ret_record->total_size) : -EAGAIN;
	}
	/* A whole record that lacks something is left out. */
	return is_whole && err == -EAGAIN ? 0 : err;
}

int jit_dump_read(const uint8_t *bytes, size_t len, bool is_full, bool *has_low_rows,
                  struct jit_codes *told, uint64_t *ret_next)
{
	struct dump dump = {.told = told, .has_low_rows = has_low_rows};
	struct record record;
	uint64_t at = 0;
	int err = 0;

	while (at < len && told->count < JIT_TOLD_EACH &&
	       !(err = read_record(&dump, bytes, len, (size_t)at, &record)))
		at += record.total_size;
	/* The code of these lines comes with the next bytes. */
	if (dump.lines && (dump.lines_at || !is_full))
		at = dump.lines_at;
	else if (err == -EAGAIN && is_full && !at && len >= sizeof(record))
		at = record.total_size;
	jit_lines_free(dump.lines);
	*ret_next = at;
	return err == -EAGAIN ? 0 : err;
}
