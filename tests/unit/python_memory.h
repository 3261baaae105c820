/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory of a program that runs a CPython which never was, as each version lays it out: enough
 * of it for threads to have names. Addresses begin at PYTHON_MEMORY; what is put stays where it is.
 */
#pragma once

#include "interp/python_objects.h"

enum { PYTHON_MEMORY = 0x10000, PYTHON_MEMORY_BYTES = 1 << 18, PYTHON_LAYOUTS = 7 };

/* How an instance has its attributes. */
enum python_instance { INSTANCE_SHARED, INSTANCE_DICT, INSTANCE_OWN_DICT };

struct python_memory {
	struct python_process process;
	uint8_t bytes[PYTHON_MEMORY_BYTES];
	size_t used;
	uint64_t type, keys; /* of instances that share their keys */
	uint32_t reads;
};

/* 3.8 to 3.13, and 3.13 free-threaded. `_active` is an empty dict of one interpreter's threading.
 */
struct python_memory *python_memory_new(size_t layout);
/* What reads it, with all of MAX_PYTHON_NAME_READS left. */
struct python_objects python_memory_objects(struct python_memory *memory);

uint64_t python_memory_take(struct python_memory *memory, size_t bytes);
void python_memory_put(struct python_memory *memory, uint64_t address, uint64_t word);
/* Characters of 1, 2 or 4 bytes; 0: ASCII. */
uint64_t python_memory_text(struct python_memory *memory, unsigned int width,
                            const void *characters, size_t length);
uint64_t python_memory_ascii(struct python_memory *memory, const char *text);
/* A dict of strings, or of ints that are their own hash. */
uint64_t python_memory_dict(struct python_memory *memory, const uint64_t (*entries)[2],
                            size_t count, bool ints);
uint64_t python_memory_thread(struct python_memory *memory, enum python_instance instance,
                              uint64_t name);
/* The newest interpreter, whose threading._active has these idents and threads. */
void python_memory_interpreter(struct python_memory *memory, const uint64_t (*threads)[2],
                               size_t count);
