/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What python_codes.c and python_codes_room.c share. There is one allocation for each code object,
 * which is followed by its function's name and its line table. Files are kept separately, because
 * many code objects share one. Each object and file has an owner that is charged for it: for a
 * file, the user whose program was the first to have code of it.
 */
#pragma once

#include "base/table.h"
#include "python/python_codes.h"
#include "cpython/python_lines.h"
#include "python/python_lines_fetch.h"

/* A user whose programs have code objects or files here. */
struct owner {
	uint32_t id;
	size_t bytes;
	struct code *latest; /* its code objects, the most recently used first */
	UT_hash_handle hh;
};

struct source_file {
	struct owner *owner;
	size_t references, bytes;
	UT_hash_handle hh;
	char path[];
};

struct code {
	uint64_t signature;
	uint64_t identity; /* without the line */
	struct owner *owner;
	struct source_file *file;
	uint32_t version, first_line;
	uint32_t met_minute; /* when it was met last */
	/* When fetching its line table was put off, or the table was asked for again; 0: it was
	 * not put off. */
	uint64_t lines_wanted_ns;
	size_t lines_len, bytes;
	size_t known; /* number of bytes that were reported, compared when it is reported again */
	struct code *prev, *next; /* in the owner's list */
	UT_hash_handle hh;
	struct line_place *marks; /* marks in the line table; see python_line_marks() */
	size_t mark_count;
	const uint8_t *lines; /* in `text`, behind the name */
	char text[];
};

struct python_codes {
	size_t max_bytes;
	struct code *codes;            /* hash by signature */
	struct source_file *files;     /* hash by path */
	struct owner *owners;          /* hash by user */
	struct lines_fetches *fetches; /* NULL until the first fetch */
	struct crew *crew;
	const uint64_t *execs;
	u64 *told;       /* NULL: nothing can be asked for again */
	uint64_t now_ns; /* as of python_codes_rest() */
	uint32_t minute; /* of that time */
	struct python_codes_stats stats;
};

void python_codes_charge(struct python_codes *codes, struct owner *owner, size_t bytes);
/* Frees an owner that has nothing left. */
void python_codes_discharge(struct python_codes *codes, struct owner *owner, size_t bytes);
void python_codes_unref_file(struct python_codes *codes, struct source_file *file);
void python_codes_forget(struct python_codes *codes, struct code *code);
/* Has the kernel half report a code object again when it meets it. */
void python_codes_ask_again(struct python_codes *codes, uint64_t signature);
/* Forgets code objects until there are not too many any more, but for `last`, which was just added:
 * a sample is about to ask for it. It is the first in its owner's list. */
void python_codes_make_room(struct python_codes *codes, const struct code *last);
