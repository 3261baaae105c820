/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reference-counted strings in a hash table.
 */
#include "proc/paths.h"

#include "base/bounds.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

struct path {
	size_t references, len;
	struct mapping_room *room;
	uint32_t user;
	UT_hash_handle hh;
	char text[];
};

static struct path *all;

/* The text must come from paths_ref(): it is the last member of a struct path. */
static struct path *path_of(const char *text)
{
	uintptr_t at = (uintptr_t)text - offsetof(struct path, text);

	return (struct path *)at;
}

static size_t bytes_of(size_t len)
{
	return sizeof(struct path) + len + 1;
}

static struct path *add(const char *text, size_t len)
{
	struct path *path = malloc(bytes_of(len));

	if (!path)
		return NULL;
	path->references = 1;
	path->len = len;
	memcpy(path->text, text, len);
	path->text[len] = '\0';
	HASH_ADD_KEYPTR(hh, all, path->text, len, path);
	if (path->hh.tbl)
		return path;
	free(path);
	return NULL;
}

const char *paths_ref(const char *path, struct mapping_room *room, uint32_t user)
{
	size_t len = strnlen(path, MAX_PATH_BYTES - 1);
	struct path *found;

	HASH_FIND(hh, all, path, len, found);
	if (found)
		return paths_ref_again(found->text);
	if (!mapping_room_take(room, user, bytes_of(len)))
		return NULL;
	found = add(path, len);
	if (!found) {
		mapping_room_give(room, user, bytes_of(len));
		return NULL;
	}
	found->room = room;
	found->user = user;
	return found->text;
}

const char *paths_ref_again(const char *text)
{
	path_of(text)->references++;
	return text;
}

void paths_unref(const char *text)
{
	struct path *path;

	if (!text)
		return;
	path = path_of(text);
	if (--path->references)
		return;
	HASH_DEL(all, path);
	mapping_room_give(path->room, path->user, bytes_of(path->len));
	free(path);
}
