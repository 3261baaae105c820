/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by object id, in which nearly every entry says no. It is bounded like the store: when it
 * has grown to twice the store's size, entries of objects that the store has closed are dropped.
 * Files with CPython are held open, because a process that maps one may fork after the store has
 * closed it.
 */
#include "interp/python_files.h"

#include "base/bounds.h"
#include "base/lane.h"
#include "base/log.h"
#include "interp/python_ask.h"
#include "base/table.h"

#include <errno.h>
#include <string.h>

enum { MAX_FILES = 2 * MAX_OBJECTS };

struct entry {
	struct job job;
	struct python_files *files;
	uint32_t id;
	bool pending, found;
	bool late; /* no answer in time at first: it gets more time, after the others */
	int error; /* -EAGAIN: not examined yet */
	struct python_file file;
	struct object *object; /* NULL unless pending or found */
	UT_hash_handle hh;
};

struct python_files {
	struct store *store;
	struct lane *lane;
	struct reader *reader; /* used by the lane's thread */
	struct entry *by_id;
	python_found_fn *fn;
	void *ctx;
	size_t found;
	uint64_t failed;
	bool stopped;
};

static uint64_t user_of(const struct job *job)
{
	const struct entry *entry = (const struct entry *)job;

	return LANE_USER(entry->object->user);
}

struct python_files *python_files_new(uv_loop_t *loop, struct store *store, python_found_fn *fn,
                                      void *ctx)
{
	_cleanup_(python_files_freep) struct python_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->store = store;
	files->fn = fn;
	files->ctx = ctx;
	files->lane = lane_new(loop, WORK_python_files, MAX_FILES);
	files->reader = reader_new(
		&(struct reader_program){READER_SELF, "python", MAX_PYTHON_READER_BYTES, 0});
	if (files->lane)
		lane_take_turns(files->lane, user_of);
	return files->lane && files->reader ? TAKE_PTR(files) : NULL;
}

static void drop(struct python_files *files, struct entry *entry)
{
	files->found -= entry->found;
	HASH_DEL(files->by_id, entry);
	object_unref(entry->object);
	free(entry);
}

void python_files_stop(struct python_files *files)
{
	if (files->stopped)
		return;
	files->stopped = true;
	lane_stop(files->lane);
	reader_cancel(files->reader);
}

void python_files_free(struct python_files *files)
{
	struct entry *entry, *next;

	if (!files)
		return;
	HASH_ITER (hh, files->by_id, entry, next)
		drop(files, entry);
	lane_free(files->lane);
	reader_free(files->reader);
	free(files);
}

static void look_into(struct job *job)
{
	struct entry *entry = (struct entry *)job;

	struct reader *reader = entry->files->reader;

	reader_of_user(reader, reader_user(entry->object->user, entry->object->owner));
	reader_hurry(reader, entry->late ? 0 : READER_FIRST_NS);
	entry->error = python_ask(reader, entry->object, &entry->file.process);
}

static void take_result(struct entry *entry)
{
	struct python_files *files = entry->files;

	if (!entry->error) {
		entry->found = true;
		files->found++;
		return;
	}
	if (entry->error != -ENOENT && entry->error != -EAGAIN) {
		log_debug("%s: cannot read its CPython: %s", entry->object->path,
		          strerror(-entry->error));
		files->failed++;
	}
	object_unref(entry->object);
	entry->object = NULL;
	entry->file.object = NULL;
}

static bool ask_again(struct entry *entry)
{
	if (entry->error != -ETIMEDOUT || entry->late)
		return false;
	entry->late = true;
	entry->error = -EAGAIN;
	return lane_submit(entry->files->lane, &entry->job) == 0;
}

static void looked_into(struct job *job)
{
	struct entry *entry = (struct entry *)job;
	struct python_files *files = entry->files;

	if (ask_again(entry))
		return;
	entry->pending = false;
	/* The error says nothing about the file, so the file is examined again when a process maps
	 * it. */
	if (entry->error == -ECHILD) {
		drop(files, entry);
		return;
	}
	take_result(entry);
	if (entry->found && !files->stopped)
		files->fn(files->ctx);
}

static bool is_closed(const struct python_files *files, uint32_t id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(files->store, id);

	return !object;
}

static void forget_closed(struct python_files *files)
{
	struct entry *entry, *next;

	HASH_ITER (hh, files->by_id, entry, next) {
		if (!entry->pending && !entry->file.holders && is_closed(files, entry->id))
			drop(files, entry);
	}
}

static struct entry *find(const struct python_files *files, uint32_t id)
{
	struct entry *entry;

	HASH_FIND(hh, files->by_id, &id, sizeof(id), entry);
	return entry;
}

/* A file that cannot be kept here is requested again. */
static void add(struct python_files *files, uint32_t id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(files->store, id);
	struct entry *entry;

	if (!object || files->stopped)
		return;
	if (HASH_COUNT(files->by_id) >= MAX_FILES)
		forget_closed(files);
	entry = HASH_COUNT(files->by_id) < MAX_FILES ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry)
		return;
	entry->job = (struct job){look_into, looked_into, NULL};
	entry->files = files;
	entry->id = id;
	entry->error = -EAGAIN;
	entry->pending = true;
	HASH_ADD(hh, files->by_id, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return;
	}
	entry->file.object = entry->object = TAKE_PTR(object);
	if (lane_submit(files->lane, &entry->job) < 0)
		drop(files, entry);
}

struct python_file *python_files_get(struct python_files *files, uint32_t id, bool *ret_pending)
{
	struct entry *entry = find(files, id);

	if (!entry) {
		add(files, id);
		entry = find(files, id);
	}
	*ret_pending = entry && entry->pending;
	return entry && entry->found ? &entry->file : NULL;
}

void python_file_hold(struct python_file **held, struct python_file *file)
{
	if (file)
		file->holders++;
	if (*held)
		(*held)->holders--;
	*held = file;
}

size_t python_files_count(const struct python_files *files)
{
	return files->found;
}

uint64_t python_files_failed(const struct python_files *files)
{
	return files->failed;
}

void python_files_add_reader_stats(const struct python_files *files, struct reader_stats *stats)
{
	reader_add_stats(files->reader, stats);
}
