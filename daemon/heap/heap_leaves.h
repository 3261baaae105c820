/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Leaves the frames of allocators off the leaves of a heap profile. The leaf is then the function
 * that asked for the memory, which is what a list of the top functions is about. Any thread.
 */
#pragma once

#include "profile/builder.h"

/* Call once functions have their names. A stack keeps its outermost frame, whatever that is. */
void heap_leaves_leave_off(struct builder *builder);
