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

/* The number of an object's debug file for a reader. */
static inline uint64_t debugfile_number(const struct object *object)
{
	return 1ULL << 32 | object->id;
}

/* `links` is what the object itself says. -ENOENT when no such file is there. */
int debugfile_open(const struct object *object, const struct links *links,
                   struct object **ret_debug);
/* A descriptor of the supplement that the file's .gnu_debugaltlink names (made by dwz, shared by
 * the debug files of one package), or negative errno: -ENOENT when it names none or none with the
 * build ID it asks for is there. `object` is the file with the DWARF, and `links` what it says. */
int debugfile_open_supplement(const struct object *object, const struct links *links);
