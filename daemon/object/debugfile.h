/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The debug file: a separate file with what was stripped from an executable. A debug file is
 * accepted only if its build ID is the executable's or, where neither has one, its checksum is the
 * one that the executable gives. It is looked for below the root folder of the process that mapped
 * the executable, while that process lives, then below the daemon's. Reads files: worker threads
 * only. For the places see the GDB manual, "Debugging Information in Separate Files".
 */
#pragma once

#include "object/links.h"
#include "object/object.h"

#include <time.h>

/* The number that stands for an object's debug file in requests to a reader process. */
static inline uint64_t debugfile_number(const struct object *object)
{
	return 1ULL << 32 | object->id;
}

enum { MAX_DEBUG_CHECKS = 6 }; /* places where a debug file is looked for by name */

/* How far the checksums of an object's candidate files were computed, which takes long for large
 * files. Zero at first. */
struct debug_checks {
	uint64_t left_ns; /* time for checksums: set by the caller, counted down */
	struct debug_check {
		uint64_t device, inode, size;
		struct timespec changed;
		uint64_t at; /* the first bytes that `sum` covers */
		uint32_t sum;
	} files[MAX_DEBUG_CHECKS];
	size_t next; /* entry that is overwritten next */
};

/* Like debugfile_open(), but continues checksums where the last call stopped, and stops when no
 * time is left for them. -EAGAIN: ask again later. */
int debugfile_open_some(const struct object *object, const struct links *links,
                        struct debug_checks *checks, struct object **ret_debug);
/* `links` is what the object itself refers to. -ENOENT when there is no such file. */
int debugfile_open(const struct object *object, const struct links *links,
                   struct object **ret_debug);
/* Opens the supplement that the file's .gnu_debugaltlink names (made by dwz, shared by the debug
 * files of one package). `object` is the file with the DWARF, and `links` what it refers to.
 * Returns a descriptor or a negative errno: -ENOENT when the file names no supplement, or when none
 * with the expected build ID is found. */
int debugfile_open_supplement(const struct object *object, const struct links *links);
