/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The separate file that holds what was stripped from an executable. It is believed only if it has
 * the same build ID or, where neither has one, the checksum that the executable gives. It is looked
 * for in the root folder of the process that mapped the executable while that process lives, then
 * in our own. Reads files: worker threads only. Places: GDB manual, "Debugging Information in
 * Separate Files".
 */
#pragma once

#include "object/links.h"
#include "object/object.h"

#include <time.h>

/* The number of an object's debug file for a reader. */
static inline uint64_t debugfile_number(const struct object *object)
{
	return 1ULL << 32 | object->id;
}

enum { MAX_DEBUG_CHECKS = 6 }; /* places where a file is looked for by name */

/* How far the checksums of an object's candidates were computed, which takes long for large ones.
 * Zero at first. */
struct debug_checks {
	uint64_t left_ns; /* for checksums: the caller's, counted down */
	struct debug_check {
		uint64_t device, inode, size;
		struct timespec changed;
		uint64_t at; /* as many bytes of it */
		uint32_t sum;
	} files[MAX_DEBUG_CHECKS];
	size_t next; /* to be overwritten */
};

/* As below, but goes on with checksums where it was, and ends when there is no time left for them:
 * -EAGAIN, so ask again later. */
int debugfile_open_some(const struct object *object, const struct links *links,
                        struct debug_checks *checks, struct object **ret_debug);
/* `links` is what the object itself says. -ENOENT when no such file is there. */
int debugfile_open(const struct object *object, const struct links *links,
                   struct object **ret_debug);
/* A descriptor of the supplement that the file's .gnu_debugaltlink names (made by dwz, shared by
 * the debug files of one package), or negative errno: -ENOENT when it names none or none with the
 * build ID it asks for is there. `object` is the file with the DWARF, and `links` what it says. */
int debugfile_open_supplement(const struct object *object, const struct links *links);
