/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a file was mapped, as the walker wants it: what to subtract from an address in a process to
 * have the file's own address.
 */
#pragma once

#include "object/object.h"
#include "proc/mapping_set.h"

/* false when the file has nothing there. Wraps around where it must. */
bool bias_of_mapping(const struct object *object, const struct proc_mapping *mapping,
                     uint64_t *ret_bias);
