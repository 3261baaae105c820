/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The separate file that holds what was stripped from an executable. It is believed only if it has
 * the same build ID. Reads files: worker threads only. Places: GDB manual, "Debugging Information
 * in Separate Files".
 */
#pragma once

#include "object/object.h"

/* -ENOENT when the object has no build ID or no such file is there. */
int debugfile_open(const struct object *object, struct object **ret_debug);
