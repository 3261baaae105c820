/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table of files by object, and their order by use.
 */
#include "symbolize/known_files.h"

#include "base/table.h"

#include <errno.h>
#include <utlist.h>

static void forget(struct known_files *files, struct known_file *file)
{
	if (file->hh.tbl)
		HASH_DEL(files->by_object, file);
	if (file->prev)
		DL_DELETE(files->by_use, file);
	debug_files_release(&file->debug);
	builder_free(file->answers);
	free(file);
}

void known_files_release(struct known_files *files)
{
	while (files->by_use)
		forget(files, files->by_use);
}

int known_file_reset(struct known_files *files, struct known_file *file)
{
	struct builder *fresh = builder_new();

	if (!fresh)
		return -ENOMEM;
	builder_free(file->answers);
	file->answers = fresh;
	file->id = ++files->last_id;
	return 0;
}

static struct known_file *add(struct known_files *files, uint32_t object)
{
	struct known_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->debug = DEBUG_FILES_NONE;
	file->object = object;
	if (known_file_reset(files, file) == 0)
		HASH_ADD(hh, files->by_object, object, sizeof(object), file);
	if (!file->hh.tbl) {
		forget(files, file);
		return NULL;
	}
	DL_APPEND(files->by_use, file);
	return file;
}

struct known_file *known_files_get(struct known_files *files, uint32_t object)
{
	struct known_file *file;

	HASH_FIND(hh, files->by_object, &object, sizeof(object), file);
	if (!file)
		return add(files, object);
	DL_DELETE(files->by_use, file);
	DL_APPEND(files->by_use, file);
	return file;
}

size_t known_files_memory(const struct known_files *files)
{
	const struct known_file *file;
	size_t bytes = 0;

	DL_FOREACH (files->by_use, file)
		bytes += sizeof(*file) + builder_memory(file->answers);
	return bytes;
}

void known_files_trim(struct known_files *files)
{
	size_t bytes = known_files_memory(files);

	while (files->by_use && bytes > files->max_bytes) {
		bytes -= sizeof(*files->by_use) + builder_memory(files->by_use->answers);
		forget(files, files->by_use);
	}
}

const struct known_file *known_files_with(const struct known_files *files, const char *text,
                                          bool is_hosts)
{
	const struct known_file *file;

	DL_FOREACH (files->by_use, file)
		if (file->is_hosts == is_hosts && builder_has_text(file->answers, text))
			return file;
	return NULL;
}
