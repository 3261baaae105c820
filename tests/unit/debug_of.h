/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls object/debugfile.h with the links that the object's file contains.
 */
#pragma once

#include "object/object.h"

int debug_of(const struct object *object, struct object **ret_debug);
int supplement_of(const struct object *object);
