/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Leaving the frames of allocators off the leaves of a heap profile: the leaf is who asked for the
 * memory then, which is what a list of the functions with most is about. Any thread.
 */
#pragma once

#include "profile/builder.h"

/* Once functions have their names. A stack keeps its outermost frame, whatever that is. */
void heap_leaves_leave_off(struct builder *builder);
