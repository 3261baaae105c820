/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The debug file: a separate file with what was stripped from an executable. A debug file is
 * accepted only if its build ID is the executable's or, where neither has one, its checksum is the
 * one that the executable gives. It is looked for below the root folder of the process that mapped
 * the executable, while that process lives, then below the daemon's. Reads files, whose file
 * systems may hang: where others must not wait, on a thread aside only. For the places see the GDB
 * manual, "Debugging Information in Separate Files".
 */
#pragma once

#include "base/aside.h"
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

/* `links` is what the object itself refers to. Continues checksums where the last call with these
 * `checks` stopped, and stops when no time is left for them; NULL: without a limit of time. -ENOENT
 * when there is no such file; -EAGAIN: ask again later. */
int debugfile_open_some(const struct object *object, const struct links *links,
                        struct debug_checks *checks, struct object **ret_debug);
/* Opens the supplement that the file's .gnu_debugaltlink names (made by dwz, shared by the debug
 * files of one package). `object` is the file with the DWARF, and `links` what it refers to.
 * Returns a descriptor or a negative errno: -ENOENT when the file names no supplement, or when none
 * with the expected build ID is found. */
int debugfile_open_supplement(const struct object *object, const struct links *links);
/* The same on a thread aside, for the user of the object. -ETIMEDOUT: the search takes longer than
 * a second, and is left behind; -EBUSY: the user's searches take so long that it was not begun. */
int debugfile_open_aside(struct aside *aside, struct object *object, const struct links *links,
                         struct debug_checks *checks, struct object **ret_debug);
int debugfile_open_supplement_aside(struct aside *aside, struct object *object,
                                    const struct links *links);
