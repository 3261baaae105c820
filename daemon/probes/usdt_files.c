/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by object id, in which nearly every entry says no. Its bound follows the store's: a table
 * that has grown to twice the store's bound is emptied.
 */
#include "probes/usdt_files.h"

#include "allocators/usdt.h"
#include "allocators/usdt_args.h"
#include "base/bounds.h"
#include "base/table.h"
#include "probes/usdt_ask.h"

#include <errno.h>
#include <string.h>

enum { MAX_FILES = 2 * MAX_OBJECTS };

struct entry {
	struct job job;
	struct usdt_files *files;
	uint32_t id;
	bool pending;
	/* There was no answer the first time: the next try has more time, and comes after
	 * others. */
	bool late;
	int error;              /* of usdt_ask() */
	struct object *object;  /* NULL unless pending */
	struct usdt_file *file; /* NULL: it has none */
	UT_hash_handle hh;
};

struct usdt_files {
	struct lane *lane;
	struct reader *reader; /* the lane's */
	struct store *store;
	usdt_found_fn *fn;
	void *ctx;
	struct entry *by_id;
};

static void look_into(struct job *job);

/* The lane's other jobs are for no user, and go first. */
static uint64_t user_of(const struct job *job)
{
	const struct entry *entry = (const struct entry *)job;

	return job->run == look_into ? LANE_USER(entry->object->user) : 0;
}

struct usdt_files *usdt_files_new(struct lane *lane, struct reader *reader, struct store *store,
                                  usdt_found_fn *fn, void *ctx)
{
	struct usdt_files *files = calloc(1, sizeof(*files));

	if (files)
		*files = (struct usdt_files){lane, reader, store, fn, ctx, NULL};
	if (files)
		lane_take_turns(lane, user_of);
	return files;
}

static void drop(struct usdt_files *files, struct entry *entry)
{
	HASH_DEL(files->by_id, entry);
	object_unref(entry->object);
	free(entry->file);
	free(entry);
}

void usdt_files_free(struct usdt_files *files)
{
	struct entry *entry, *next;

	if (!files)
		return;
	HASH_ITER (hh, files->by_id, entry, next)
		drop(files, entry);
	free(files);
}

static const struct {
	const char *provider, *name;
	int arguments;
} probes[] = {
#define PROBE(probe, provider, name, arguments) [STATIC_##probe] = {provider, name, arguments},
	STATIC_PROBES(PROBE)
#undef PROBE
};

static struct static_arg as_told(const struct usdt_arg *arg)
{
	static const uint8_t places[] = {
		[USDT_CONSTANT] = STATIC_CONSTANT,
		[USDT_REGISTER] = STATIC_REGISTER,
		[USDT_MEMORY] = STATIC_MEMORY,
	};

	return (struct static_arg){
		.place = places[arg->place],
		.bytes = arg->bytes,
		.is_signed = arg->is_signed,
		.base = arg->base,
		.index = arg->index,
		.scale = arg->scale,
		.shift = arg->shift,
		.value = (uint64_t)arg->value,
	};
}

bool usdt_file_has(const struct usdt_file *file, enum static_probe probe)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->sites[i].probe == probe)
			return true;
	return false;
}

struct found_probes {
	uint16_t machine;
	struct usdt_file *file; /* NULL until there is a probe */
};

static enum static_probe find_probe(const struct usdt_probe *probe)
{
	int at = 0;

	while (at < STATIC_PROBE_COUNT && (strcmp(probe->provider, probes[at].provider) != 0 ||
	                                   strcmp(probe->name, probes[at].name) != 0))
		at++;
	return at;
}

/* A probe whose arguments are not understood is left out. */
static int add_probe(const struct usdt_probe *probe, void *ctx)
{
	enum static_probe which = find_probe(probe);
	struct found_probes *found = ctx;
	struct usdt_arg args[MAX_USDT_ARGS];
	struct usdt_site *place;

	if (which == STATIC_PROBE_COUNT)
		return 0;
	if (usdt_args_parse(found->machine, probe->arguments, args) < probes[which].arguments)
		return 0;
	if (!found->file)
		found->file = calloc(1, sizeof(*found->file));
	if (!found->file)
		return -ENOMEM;
	if (found->file->count == MAX_USDT_SITES)
		return -E2BIG;
	place = &found->file->sites[found->file->count++];
	place->offset = probe->offset;
	place->semaphore = probe->semaphore_offset;
	place->probe = (uint8_t)which;
	for (int i = 0; i < probes[which].arguments; i++)
		place->site.args[i] = as_told(&args[i]);
	return 0;
}

struct usdt_file *usdt_file_read(const struct elf *elf)
{
	struct found_probes found = {.machine = elf_machine(elf)};

	usdt_each(elf, add_probe, &found);
	return found.file;
}

static void look_into(struct job *job)
{
	struct entry *entry = (struct entry *)job;

	struct reader *reader = entry->files->reader;

	/* Other jobs on the lane use the reader, too. */
	reader_of_user(reader, reader_user(entry->object->user, entry->object->owner));
	reader_hurry(reader, entry->late ? 0 : READER_FIRST_NS);
	entry->file = calloc(1, sizeof(*entry->file));
	entry->error =
		entry->file ? usdt_ask(reader, entry->object->fd, entry->id, entry->file) : -ENOMEM;
	reader_hurry(reader, 0);
	reader_of_user(reader, 0);
	if (entry->error == 0)
		return;
	free(entry->file);
	entry->file = NULL;
}

/* Other errors may pass, so the file is read again when a process maps it. */
static bool is_about_file(int error)
{
	return error == 0 || error == -ENOENT || error == -EIO || error == -ENOEXEC;
}

static bool ask_again(struct entry *entry)
{
	if (entry->error != -ETIMEDOUT || entry->late)
		return false;
	entry->late = true;
	return lane_submit(entry->files->lane, &entry->job) == 0;
}

static void looked_into(struct job *job)
{
	struct entry *entry = (struct entry *)job;

	if (ask_again(entry))
		return;
	entry->pending = false;
	if (!is_about_file(entry->error)) {
		drop(entry->files, entry);
		return;
	}
	object_unref(entry->object);
	entry->object = NULL;
	if (entry->file)
		entry->files->fn(entry->files->ctx);
}

static void forget_all(struct usdt_files *files)
{
	struct entry *entry, *next;

	HASH_ITER (hh, files->by_id, entry, next) {
		if (!entry->pending)
			drop(files, entry);
	}
}

/* NULL: the entry could not be kept; the next usdt_files_get() tries again. */
static struct entry *add(struct usdt_files *files, uint32_t id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(files->store, id);
	struct entry *entry;

	if (!object)
		return NULL;
	if (HASH_COUNT(files->by_id) >= MAX_FILES)
		forget_all(files);
	entry = HASH_COUNT(files->by_id) < MAX_FILES ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry)
		return NULL;
	entry->job = (struct job){look_into, looked_into, NULL};
	entry->files = files;
	entry->id = id;
	HASH_ADD(hh, files->by_id, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	entry->object = TAKE_PTR(object);
	entry->pending = true;
	if (lane_submit(files->lane, &entry->job) < 0) {
		drop(files, entry);
		return NULL;
	}
	return entry;
}

const struct usdt_file *usdt_files_get(struct usdt_files *files, uint32_t id, bool *ret_pending)
{
	struct entry *entry;

	HASH_FIND(hh, files->by_id, &id, sizeof(id), entry);
	if (!entry)
		entry = add(files, id);
	*ret_pending = !entry || entry->pending;
	return entry && !entry->pending ? entry->file : NULL;
}
