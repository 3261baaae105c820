/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns an address into a binary and the binary's own address. Objects are looked up once per slice
 * and path: processes may see one file at different paths, and each must be shown at the path at
 * which it sees the file, whoever mapped it first.
 */
#include "ingest/places.h"

#include "base/bounds.h"
#include "base/table.h"
#include "object/reach.h"
#include "proc/bias.h"

/* Hashed and compared as bytes. Equal paths are one string (proc/paths.h). */
struct place_key {
	const char *path;
	uint64_t object;
};

struct place_mapping {
	struct place_key key;
	struct object *object;
	uint32_t mappings[MAPPING_KINDS]; /* 0 until an address of that kind is found in it */
	UT_hash_handle hh;
};

static uint32_t add_object_mapping(struct builder *builder, const struct place_mapping *place,
                                   enum mapping_kind kind)
{
	const struct object *object = place->object;
	char path[MAX_PATH_BYTES];

	reach_path(place->key.path, path);
	struct mapping mapping = {
		.path = builder_text(builder, path),
		.build_id = builder_text(builder, object->build_id),
		.start = object->text.address,
		.limit = object->text.address + object->text.memory_bytes,
		.offset = object->text.offset,
		.object = object->id,
		.kind = kind,
	};

	return builder_mapping(builder, &mapping);
}

/* NULL if the object was evicted, or if memory has run out. */
static struct place_mapping *object_mapping(struct places *places,
                                            const struct proc_mapping *mapped)
{
	const struct place_key key = {mapped->path, mapped->object};
	struct place_mapping *found;

	HASH_FIND(hh, places->by_object, &key, sizeof(key), found);
	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->key = key;
	found->object = store_get_sampled(places->store, mapped->object);
	if (!found->object) {
		places->met_closed = true;
		free(found);
		return NULL;
	}
	HASH_ADD(hh, places->by_object, key, sizeof(key), found);
	if (!found->hh.tbl) {
		object_unref(found->object);
		free(found);
		return NULL;
	}
	return found;
}

void places_release(struct places *places)
{
	struct place_mapping *entry, *next;

	HASH_ITER (hh, places->by_object, entry, next) {
		HASH_DEL(places->by_object, entry);
		object_unref(entry->object);
		free(entry);
	}
}

static uint32_t opened(struct places *places, struct place_mapping *place, uint64_t own_address,
                       enum mapping_kind kind)
{
	uint32_t *mapping = &place->mappings[kind];

	if (!*mapping)
		*mapping = add_object_mapping(places->builder, place, kind);
	return builder_location(places->builder, *mapping, own_address);
}

/* Code in a file that is not open keeps the name of the file and the offset in it. If the file is
 * being opened, the location also keeps the ticket, so that it can be named later. */
static uint32_t unopened(struct places *places, const struct proc_mapping *mapped, uint64_t offset,
                         enum mapping_kind kind)
{
	bool is_awaited = store_is_ticket(mapped->object);
	struct mapping mapping = {
		.path = builder_text(places->builder, mapped->path),
		.limit = UINT64_MAX,
		.object = is_awaited ? mapped->object : 0,
		.kind = kind,
	};

	if (is_awaited)
		store_want_ticket(places->store, mapped->object);
	return builder_location(places->builder, builder_mapping(places->builder, &mapping),
	                        offset);
}

static struct place_mapping *opened_mapping(struct places *places,
                                            const struct proc_mapping *mapped)
{
	if (!mapped->object || store_is_ticket(mapped->object))
		return NULL;
	return object_mapping(places, mapped);
}

uint32_t places_user(struct places *places, const struct image *image, uint64_t address,
                     enum mapping_kind kind)
{
	const struct proc_mapping *mapped = mapping_set_find(image->set, address);
	struct place_mapping *place;
	uint64_t offset, own_address;

	if (!mapped)
		return places_pseudo(places, "[unknown]");
	if (generated_is_in(mapped))
		return generated_location(&places->generated, image, address);
	offset = address - mapped->start + mapped->offset;
	place = opened_mapping(places, mapped);
	if (place && object_address(place->object, offset, &own_address))
		return opened(places, place, own_address, kind);
	if (mapped->path[0] == '[')
		return places_pseudo(places, mapped->path);
	return unopened(places, mapped, offset, kind);
}

/* A file's variables follow its code, with the same bias. */
static bool in_file(const struct proc_mapping *code, const struct object *object, uint64_t address,
                    uint64_t *ret_own_address)
{
	uint64_t bias;

	if (!bias_of_mapping(object, code, &bias))
		return false;
	*ret_own_address = address - bias;
	return object_holds(object, *ret_own_address);
}

static uint32_t lock_without_file(struct places *places, const char *name, uint64_t address)
{
	const struct mapping mapping = {
		.path = builder_text(places->builder, name),
		.limit = UINT64_MAX,
		.kind = MAPPING_LOCK,
	};

	return builder_location(places->builder, builder_mapping(places->builder, &mapping),
	                        address);
}

uint32_t places_lock(struct places *places, const struct image *image, uint64_t address)
{
	const struct proc_mapping *code = image ? mapping_set_before(image->set, address) : NULL;
	struct place_mapping *place = code ? opened_mapping(places, code) : NULL;
	uint64_t own_address;

	if (place && in_file(code, place->object, address, &own_address))
		return opened(places, place, own_address, MAPPING_LOCK);
	return lock_without_file(places, "[lock]", address);
}

uint32_t places_gil(struct places *places)
{
	return lock_without_file(places, "[lock GIL]", 0);
}

uint32_t places_kernel(struct places *places, uint64_t address)
{
	struct mapping mapping = {
		.path = builder_text(places->builder, "[kernel.kallsyms]"),
		.start = 1ULL << 63, /* the upper half of the address space */
		.limit = UINT64_MAX,
		.kind = MAPPING_KERNEL,
	};

	return builder_location(places->builder, builder_mapping(places->builder, &mapping),
	                        address);
}

uint32_t places_pseudo(struct places *places, const char *name)
{
	return builder_pseudo(places->builder, name);
}
