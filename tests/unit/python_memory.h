/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory of an imaginary process that runs CPython, in the layout of each version: enough of it
 * for threads to have names. Addresses begin at PYTHON_MEMORY. What was put stays at its address.
 */
#pragma once

#include "cpython/python_objects.h"

enum { PYTHON_MEMORY = 0x10000, PYTHON_MEMORY_BYTES = 1 << 18, PYTHON_LAYOUTS = 7 };

/* How an instance stores its attributes. */
enum python_instance { INSTANCE_SHARED, INSTANCE_DICT, INSTANCE_OWN_DICT };

struct python_memory {
	struct python_process process;
	uint8_t bytes[PYTHON_MEMORY_BYTES];
	size_t used;
	uint64_t type, keys; /* of instances that share their keys */
	uint32_t reads;
};

/* The layouts are 3.8 to 3.13, and 3.13 free-threaded. There is one interpreter, whose
 * threading._active is an empty dict. */
struct python_memory *python_memory_new(size_t layout);
/* Reads this memory, with all of MAX_PYTHON_NAME_READS left. */
struct python_objects python_memory_objects(struct python_memory *memory);

uint64_t python_memory_take(struct python_memory *memory, size_t bytes);
void python_memory_put(struct python_memory *memory, uint64_t address, uint64_t word);
/* A text with characters of 1, 2 or 4 bytes; 0: ASCII. */
uint64_t python_memory_text(struct python_memory *memory, unsigned int width,
                            const void *characters, size_t length);
uint64_t python_memory_ascii(struct python_memory *memory, const char *text);
/* A dict with keys that are strings, or ints that are their own hash. */
uint64_t python_memory_dict(struct python_memory *memory, const uint64_t (*entries)[2],
                            size_t count, bool ints);
uint64_t python_memory_thread(struct python_memory *memory, enum python_instance instance,
                              uint64_t name);
/* Adds a newest interpreter, whose threading._active has these idents and threads. */
void python_memory_interpreter(struct python_memory *memory, const uint64_t (*threads)[2],
                               size_t count);
