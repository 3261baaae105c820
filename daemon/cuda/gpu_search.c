/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by object id, in which nearly every entry says no. Its bound follows the store's: a table
 * that has grown to twice the store's bound is emptied.
 */
#include "cuda/gpu_search.h"

#include "base/bounds.h"
#include "base/table.h"
#include "cuda/gpu_ask.h"

#include <errno.h>

enum { MAX_FILES = 2 * MAX_OBJECTS };

struct entry {
	struct job job;
	struct gpu_search *search;
	uint32_t id;
	uint32_t libraries;
	bool pending;
	int error;             /* of gpu_ask() */
	struct object *object; /* NULL unless pending */
	UT_hash_handle hh;
};

struct gpu_search {
	struct job rest;
	size_t pending; /* jobs */
	struct lane *lane;
	struct reader *reader; /* the lane's */
	struct store *store;
	gpu_found_fn *fn;
	void *ctx;
	struct entry *by_id;
};

/* The reader process holds memory, and the next question may be a long time off. */
static void rest(struct job *job)
{
	reader_rest(((struct gpu_search *)job)->reader, 0);
}

static void rested(struct job *job)
{
	((struct gpu_search *)job)->pending--;
}

struct gpu_search *gpu_search_new(struct lane *lane, struct reader *reader, struct store *store,
                                  gpu_found_fn *fn, void *ctx)
{
	struct gpu_search *search = calloc(1, sizeof(*search));

	if (search)
		*search = (struct gpu_search){
			.rest = {rest, rested, NULL},
			.lane = lane,
			.reader = reader,
			.store = store,
			.fn = fn,
			.ctx = ctx,
		};
	return search;
}

static void drop(struct gpu_search *search, struct entry *entry)
{
	HASH_DEL(search->by_id, entry);
	object_unref(entry->object);
	free(entry);
}

void gpu_search_free(struct gpu_search *search)
{
	struct entry *entry, *next;

	if (!search)
		return;
	HASH_ITER (hh, search->by_id, entry, next)
		drop(search, entry);
	free(search);
}

static void look_into(struct job *job)
{
	struct entry *entry = (struct entry *)job;
	_cleanup_free_ struct gpu_file *file = malloc(sizeof(*file));

	entry->error = file ? gpu_ask(entry->search->reader, entry->object->fd, entry->id,
	                              GPU_LIBRARY_RUNTIME | GPU_LIBRARIES_TENSOR, file)
	                    : -ENOMEM;
	if (!entry->error)
		entry->libraries = file->libraries;
}

/* Other errors may pass, so the file is inspected again when a process maps it. */
static bool is_about_file(int error)
{
	return error == 0 || error == -ENOENT || error == -EIO || error == -ENOEXEC ||
	       error == -E2BIG;
}

static void looked_into(struct job *job)
{
	struct entry *entry = (struct entry *)job;
	struct gpu_search *search = entry->search;

	entry->pending = false;
	if (--search->pending == 0 && lane_submit(search->lane, &search->rest) == 0)
		search->pending++;
	if (!is_about_file(entry->error)) {
		drop(search, entry);
		return;
	}
	object_unref(entry->object);
	entry->object = NULL;
	if (entry->libraries)
		search->fn(search->ctx);
}

static void forget_all(struct gpu_search *search)
{
	struct entry *entry, *next;

	HASH_ITER (hh, search->by_id, entry, next) {
		if (!entry->pending)
			drop(search, entry);
	}
}

/* NULL: the entry could not be kept; the next gpu_search_get() tries again. */
static struct entry *add(struct gpu_search *search, uint32_t id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(search->store, id);
	struct entry *entry;

	if (!object)
		return NULL;
	if (HASH_COUNT(search->by_id) >= MAX_FILES)
		forget_all(search);
	entry = HASH_COUNT(search->by_id) < MAX_FILES ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry)
		return NULL;
	entry->job = (struct job){look_into, looked_into, NULL};
	entry->search = search;
	entry->id = id;
	HASH_ADD(hh, search->by_id, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	entry->object = TAKE_PTR(object);
	entry->pending = true;
	if (lane_submit(search->lane, &entry->job) < 0) {
		drop(search, entry);
		return NULL;
	}
	search->pending++;
	return entry;
}

uint32_t gpu_search_get(struct gpu_search *search, uint32_t id, bool *ret_pending)
{
	struct entry *entry;

	HASH_FIND(hh, search->by_id, &id, sizeof(id), entry);
	if (!entry)
		entry = add(search, id);
	*ret_pending = entry && entry->pending;
	return entry && !entry->pending ? entry->libraries : 0;
}
