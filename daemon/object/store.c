/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of open objects, and the share of each user. How a file is recognized and opened is in
 * object/store_open.c.
 *
 * A build ID is a hint: any user can write any build ID into a file. Two files are copies of one
 * another only if they also have the same owner, size and first page, and were seen below the same
 * root folder, in the same mount and user namespaces. So a user, or the superuser of a container,
 * can confuse only their own files.
 */
#include "object/store_private.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#include <utlist.h>

/* Several mounts and keys of a file, and files that are no ELF. */
enum { ALIASES_PER_OBJECT = 4 };

struct store *store_new(size_t max_objects)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	if (pthread_mutex_init(&store->lock, NULL)) {
		free(store);
		return NULL;
	}
	store->max_objects = max_objects ? max_objects : 1;
	store->shares.whole = store->max_objects;
	tickets_init(&store->tickets);
	store->aliases.max = ALIASES_PER_OBJECT * store->max_objects;
	return store;
}

size_t store_max_objects(const struct store *store)
{
	return store->max_objects;
}

void store_drop(struct store *store, struct entry *entry)
{
	if (entry->hh_identity.tbl)
		HASH_DELETE(hh_identity, store->by_identity, entry);
	if (entry->hh.tbl)
		HASH_DELETE(hh, store->by_id, entry);
	DL_DELETE(store->by_use, entry);
	shares_give(&store->shares, entry->object->user, 1);
	object_unref(entry->object);
	free(entry);
	store->stats.objects--;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	aliases_clear(&store->aliases);
	tickets_clear(&store->tickets);
	while (store->by_use)
		store_drop(store, store->by_use);
	shares_clear(&store->shares);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

void store_hold_time(struct store *store, uint64_t now_ns)
{
	__atomic_store_n(&store->held_ns, now_ns, __ATOMIC_RELAXED);
}

uint64_t store_now(const struct store *store)
{
	return __atomic_load_n(&store->held_ns, __ATOMIC_RELAXED) ?: clock_mono_ns();
}

struct entry *store_find(struct store *store, uint32_t id)
{
	struct entry *entry;

	HASH_FIND(hh, store->by_id, &id, sizeof(id), entry);
	if (entry) {
		DL_DELETE(store->by_use, entry);
		DL_APPEND(store->by_use, entry);
		entry->used_ns = store_now(store);
	}
	return entry;
}

static struct identity_of_file identity_of(const struct object *object)
{
	struct identity_of_file identity;

	memset(&identity, 0, sizeof(identity));
	identity.root_device = object->root.device;
	identity.root_inode = object->root.inode;
	identity.mount_space = object->spaces.mount;
	identity.user_space = object->spaces.user;
	identity.owner = object->owner;
	identity.size = object->size;
	identity.head = object->head;
	snprintf(identity.build_id, sizeof(identity.build_id), "%s", object->build_id);
	return identity;
}

/* Closes the user's least recently used object. False: the user has no open object. */
static bool evict_of(struct store *store, uint32_t user)
{
	struct entry *entry;

	for (entry = store->by_use; entry; entry = entry->next) {
		if (entry->object->user != user)
			continue;
		store_drop(store, entry);
		store->stats.evicted++;
		return true;
	}
	return false;
}

/* Makes room by evicting objects of the same user. A user without objects finds room, because the
 * shares of the others leave some. */
static bool make_room(struct store *store, uint32_t user)
{
	while (!shares_take_beside_root(&store->shares, user, 1)) {
		if (!evict_of(store, user))
			return false;
	}
	return true;
}

/* Whether copies of the file can be recognized: it has a build ID, and its origin is known. The
 * origin is unknown if the process had ended when the file was opened. */
static bool is_told(const struct identity_of_file *identity)
{
	return identity->build_id[0] && identity->root_inode;
}

static struct entry *find_copy(const struct store *store, const struct identity_of_file *identity)
{
	struct entry *entry = NULL;

	if (is_told(identity))
		HASH_FIND(hh_identity, store->by_identity, identity, sizeof(*identity), entry);
	return entry;
}

struct entry *store_add(struct store *store, struct object *object)
{
	_cleanup_(object_unrefp) struct object *owned = object;
	const struct identity_of_file identity = identity_of(object);
	struct entry *entry = find_copy(store, &identity);

	if (entry)
		return store_find(store, entry->id);
	entry = calloc(1, sizeof(*entry));
	if (!entry || !make_room(store, object->user)) {
		free(entry);
		return NULL;
	}
	entry->identity = identity;
	entry->used_ns = store_now(store);
	entry->id = owned->id = ++store->last_id;
	HASH_ADD(hh, store->by_id, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) {
		shares_give(&store->shares, object->user, 1);
		free(entry);
		return NULL;
	}
	entry->object = TAKE_PTR(owned);
	if (is_told(&identity))
		HASH_ADD(hh_identity, store->by_identity, identity, sizeof(identity), entry);
	DL_APPEND(store->by_use, entry);
	store->stats.objects++;
	store->stats.opened++;
	return entry;
}

bool store_has(struct store *store, uint32_t id)
{
	struct entry *entry;

	pthread_mutex_lock(&store->lock);
	HASH_FIND(hh, store->by_id, &id, sizeof(id), entry);
	pthread_mutex_unlock(&store->lock);
	return entry != NULL;
}

struct object *store_get(struct store *store, uint32_t id)
{
	LOCKED(store);
	struct entry *entry = store_find(store, id);

	return entry ? object_ref(entry->object) : NULL;
}

struct object *store_get_sampled(struct store *store, uint32_t id)
{
	LOCKED(store);
	struct entry *entry = store_find(store, id);

	if (!entry)
		return NULL;
	entry->is_sampled = true;
	return object_ref(entry->object);
}

void store_get_stats(struct store *store, struct store_stats *ret_stats)
{
	LOCKED(store);

	*ret_stats = store->stats;
	ret_stats->samples_refused = store->tickets.refused;
}
