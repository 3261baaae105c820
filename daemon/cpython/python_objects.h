/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_objects - reads CPython's objects from the memory of a process that changes them
 * meanwhile: dicts, attributes, strings. Nothing that is read is trusted: every pointer may lead
 * anywhere, every length is bounded, and so is the number of reads. What makes no sense counts as
 * missing. All state is in the struct; any thread, each with its own struct.
 */
#pragma once

#include "base/buf.h"
#include "bpf/python.h"

#include <stdbool.h>

/* Reads all of [address, address + len). Returns 0 or a negative errno. */
typedef int python_read_fn(void *ctx, uint64_t address, void *into, size_t len);

/* How instances of a type store their attributes. */
struct python_type {
	uint64_t address; /* 0: no type was read yet */
	uint64_t flags, basic_size, dict_offset, cached_keys;
};

struct python_objects {
	const struct python_process *process;
	python_read_fn *read;
	void *ctx;
	uint32_t reads_left;
	struct python_type type; /* the last one; threads mostly share a type */
	uint64_t name_keys;      /* the table of keys in which the last attribute was found */
	uint32_t name_index;     /* its index there */
};

enum {
	MAX_PYTHON_ENTRIES = 1 << 16, /* of a dict; the largest sys.modules has 8,000 */
	MAX_PYTHON_THREAD_NAME = 64,  /* characters; the rest of a name is left out */
	MAX_PYTHON_TEXT = 512,        /* of any string */
};

/* The word at an address; 0 when it cannot be read, or is not a valid address in a program. */
uint64_t python_objects_pointer(struct python_objects *objects, uint64_t address);
/* The same for a _PyStackRef, 3.14 and later, whose lowest two bits are tags. */
uint64_t python_objects_reference(struct python_objects *objects, uint64_t address);
/* Calls fn for each entry of a dict whose keys are ints that are their own hash. */
typedef void python_entry_fn(uint64_t key, uint64_t value, void *ctx);
void python_objects_each(struct python_objects *objects, uint64_t dict, python_entry_fn *fn,
                         void *ctx);
/* The value of a dict's key, of an instance's attribute, or of a module's variable; 0: there is
 * none. */
uint64_t python_objects_find(struct python_objects *objects, uint64_t dict, const char *key);
uint64_t python_objects_attribute(struct python_objects *objects, uint64_t object,
                                  const char *name);
uint64_t python_objects_variable(struct python_objects *objects, uint64_t module, const char *name);
/* Appends a str, as python_text_add() writes it, up to `most` characters, at most MAX_PYTHON_TEXT.
 * False: the object is not a str. */
bool python_objects_text(struct python_objects *objects, uint64_t text, size_t most,
                         struct buf *buf);
/* Reads all of [address, address + len); false: it cannot be read, or too much was. */
bool python_objects_bytes(struct python_objects *objects, uint64_t address, void *into, size_t len);
