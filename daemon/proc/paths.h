/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The paths of mapped files, each kept once however many mappings have it. Loop thread only.
 */
#pragma once

#include "proc/mapping_room.h"

/* A reference to the text, or NULL when memory, or the user's room, is out; `path` is cut at
 * MAX_PATH_BYTES. The user who brings a new text pays for it. Compare texts by their pointers. */
const char *paths_ref(const char *path, struct mapping_room *room, uint32_t user);
const char *paths_ref_again(const char *text); /* one more of what paths_ref() gave */
void paths_unref(const char *text);            /* takes NULL */
