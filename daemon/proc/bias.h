/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The bias of a mapping, for the stack walker: the number to subtract from an address in a process
 * to get the file's own address.
 */
#pragma once

#include "object/object.h"
#include "proc/mapping_set.h"

/* False when the file has no bytes at the mapping's offset. The bias wraps around where
 * necessary. */
bool bias_of_mapping(const struct object *object, const struct proc_mapping *mapping,
                     uint64_t *ret_bias);
