/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * object/debugfile.h by what the object's file says.
 */
#pragma once

#include "object/object.h"

int debug_of(const struct object *object, struct object **ret_debug);
int supplement_of(const struct object *object);
