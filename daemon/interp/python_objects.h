/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_objects - a CPython's objects in memory that somebody else writes meanwhile: dicts,
 * attributes, strings. Nothing that is read is believed: every pointer may lead anywhere, every
 * length is bounded, and so is the number of reads. What makes no sense is not there. No state but
 * what is in the struct; any thread, each its own.
 */
#pragma once

#include "base/buf.h"
#include "bpf/python.h"

#include <stdbool.h>

/* All of [address, address + len), or a negative errno. */
typedef int python_read_fn(void *ctx, uint64_t address, void *into, size_t len);

/* What instances of a type have their attributes by. */
struct python_type {
	uint64_t address; /* 0: none was read yet */
	uint64_t flags, basic_size, dict_offset, cached_keys;
};

struct python_objects {
	const struct python_process *process;
	python_read_fn *read;
	void *ctx;
	uint32_t reads_left;
	struct python_type type; /* the last one: threads are mostly of the same */
	uint64_t name_keys;      /* the table of keys that the last attribute was found in */
	uint32_t name_index;     /* and where */
};

enum {
	MAX_PYTHON_ENTRIES = 1 << 16, /* of a dict; sys.modules of the largest programs has 8,000 */
	MAX_PYTHON_THREAD_NAME = 64,  /* characters; the rest of a name is left out */
};

/* The word at an address; 0 when it cannot be read, or is no address of a program. */
uint64_t python_objects_pointer(struct python_objects *objects, uint64_t address);
/* Each entry of a dict whose keys are ints that are their own hash. */
typedef void python_entry_fn(uint64_t key, uint64_t value, void *ctx);
void python_objects_each(struct python_objects *objects, uint64_t dict, python_entry_fn *fn,
                         void *ctx);
/* The value of a dict's key, of an instance's attribute, or of a module's variable; 0: none. */
uint64_t python_objects_find(struct python_objects *objects, uint64_t dict, const char *key);
uint64_t python_objects_attribute(struct python_objects *objects, uint64_t object,
                                  const char *name);
uint64_t python_objects_variable(struct python_objects *objects, uint64_t module, const char *name);
/* Appends a str, as python_text_add() writes it, up to MAX_PYTHON_THREAD_NAME characters; false
 * when it is none. */
bool python_objects_text(struct python_objects *objects, uint64_t text, struct buf *buf);
