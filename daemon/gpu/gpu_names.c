/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs choose handles and names. A hash is mixed with a number that they do not know, so that
 * they cannot choose collisions.
 */
#include "gpu/gpu_names.h"

#include "base/hash.h"
#include "base/table.h"
#include "bpf/gpu.h"

#include <string.h>

struct gpu_name {
	uint64_t hash;
	uint32_t users, owner;
	UT_hash_handle hh;
	char text[];
};

struct gpu_named {
	uint64_t key;
	struct gpu_name *name;
	UT_hash_handle hh;
};

void gpu_names_init(struct gpu_names *names)
{
	names->seed = hash_seed();
	names->bytes.whole = GPU_NAMES_BYTES;
}

void gpu_names_release(struct gpu_names *names)
{
	shares_clear(&names->bytes);
}

static uint64_t hash_of(const struct gpu_names *names, const char *bytes, size_t len)
{
	uint64_t hash = names->seed;

	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ (unsigned char)bytes[i]) * 0xd6e8feb86659fd93;
		hash ^= hash >> 32;
	}
	return hash;
}

static size_t bytes_of(size_t len)
{
	return sizeof(struct gpu_name) + len + 1;
}

/* NULL: no room. */
static struct gpu_name *name_get(struct gpu_names *names, uint32_t owner, const char *bytes,
                                 size_t len)
{
	uint64_t hash = hash_of(names, bytes, len);
	struct gpu_name *name;

	HASH_FIND(hh, names->by_hash, &hash, sizeof(hash), name);
	if (name && !strncmp(name->text, bytes, len) && !name->text[len]) {
		name->users++;
		return name;
	}
	/* Two names do not get the same 64-bit hash by chance. */
	if (name || !shares_take(&names->bytes, owner, bytes_of(len)))
		return NULL;
	name = calloc(1, bytes_of(len));
	if (!name) {
		shares_give(&names->bytes, owner, bytes_of(len));
		return NULL;
	}
	name->hash = hash;
	name->users = 1;
	name->owner = owner;
	memcpy(name->text, bytes, len);
	HASH_ADD(hh, names->by_hash, hash, sizeof(hash), name);
	if (!name->hh.tbl) {
		shares_give(&names->bytes, owner, bytes_of(len));
		free(name);
		return NULL;
	}
	return name;
}

static void name_put(struct gpu_names *names, struct gpu_name *name)
{
	if (--name->users)
		return;
	HASH_DEL(names->by_hash, name);
	shares_give(&names->bytes, name->owner, bytes_of(strlen(name->text)));
	free(name);
}

static uint64_t key_of(const struct gpu_handles *of, uint64_t handle)
{
	return (handle ^ of->seed) * 0x9e3779b97f4a7c15;
}

static struct gpu_named *find(const struct gpu_handles *of, uint64_t handle)
{
	uint64_t key = key_of(of, handle);
	struct gpu_named *named;

	HASH_FIND(hh, of->by_handle, &key, sizeof(key), named);
	return named;
}

/* Takes over the reference to the name; NULL is counted as lost. */
static void put(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                struct gpu_name *name)
{
	struct gpu_named *named;

	of->seed = names->seed;
	named = find(of, handle);
	if (named && name) {
		name_put(names, named->name);
		named->name = name;
		return;
	}
	if (name && HASH_COUNT(of->by_handle) < GPU_NAMES_MAX)
		named = calloc(1, sizeof(*named));
	if (!name || !named) {
		names->lost++;
		if (name)
			name_put(names, name);
		return;
	}
	named->key = key_of(of, handle);
	named->name = name;
	HASH_ADD(hh, of->by_handle, key, sizeof(named->key), named);
	if (!named->hh.tbl) {
		free(named);
		names->lost++;
		name_put(names, name);
		return;
	}
	names->count++;
}

void gpu_names_add(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                   const char *bytes, size_t len)
{
	len = strnlen(bytes, len < GPU_NAME_BYTES ? len : GPU_NAME_BYTES);
	if (len)
		put(names, of, handle, name_get(names, of->owner, bytes, len));
}

void gpu_names_add_again(struct gpu_names *names, struct gpu_handles *of, uint64_t handle,
                         uint64_t known)
{
	struct gpu_named *named = find(of, known);

	if (!named || handle == known)
		return;
	named->name->users++;
	put(names, of, handle, named->name);
}

const char *gpu_names_find(const struct gpu_handles *of, uint64_t handle)
{
	const struct gpu_named *named = find(of, handle);

	return named ? named->name->text : NULL;
}

void gpu_names_forget(struct gpu_names *names, struct gpu_handles *of)
{
	struct gpu_named *named, *next;

	HASH_ITER (hh, of->by_handle, named, next) {
		HASH_DEL(of->by_handle, named);
		name_put(names, named->name);
		names->count--;
		free(named);
	}
}
