/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The paths of mapped files, each kept once for all mappings that use it. Loop thread only.
 */
#pragma once

#include "proc/mapping_room.h"

/* A reference to the text, or NULL when memory, or the user's share of the room, is used up. `path`
 * is truncated to MAX_PATH_BYTES. A new text counts against the user that adds it. Equal texts have
 * equal pointers. */
const char *paths_ref(const char *path, struct mapping_room *room, uint32_t user);
const char *paths_ref_again(const char *text); /* one more reference to a text of paths_ref() */
void paths_unref(const char *text);            /* takes NULL */
