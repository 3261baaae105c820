/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One pass over the samples: each node of their call paths, and each function, is looked at once,
 * by the first sample that has it.
 */
#include "symbolize/told_files.h"

#include <errno.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

struct told_file {
	struct source_root root;
	size_t bytes;
	struct told_file *prev, *next;
	UT_hash_handle hh;
	char path[];
};

/* A profile that is looked at. */
struct noting {
	struct told_files *files;
	const struct profile *profile;
	bool *nodes, *functions; /* seen */
};

static void forget(struct told_files *files, struct told_file *file)
{
	HASH_DEL(files->by_path, file);
	DL_DELETE(files->by_use, file);
	files->bytes -= file->bytes;
	free(file);
}

void told_files_release(struct told_files *files)
{
	while (files->by_use)
		forget(files, files->by_use);
}

static struct told_file *find(const struct told_files *files, const char *path)
{
	struct told_file *file;

	HASH_FIND_STR(files->by_path, path, file);
	return file;
}

static int add(struct told_files *files, const char *path, const struct source_root *root)
{
	size_t len = strlen(path), bytes = sizeof(struct told_file) + len + 1;
	struct told_file *file = find(files, path);

	if (file) {
		DL_DELETE(files->by_use, file);
	} else {
		file = calloc(1, bytes);
		if (!file)
			return -ENOMEM;
		file->bytes = bytes;
		memcpy(file->path, path, len);
		HASH_ADD_KEYPTR(hh, files->by_path, file->path, len, file);
		if (!file->hh.tbl) {
			free(file);
			return -ENOMEM;
		}
		files->bytes += bytes;
	}
	/* Of a child that has just been forked it is not known, and files are its parent's mostly.
	 */
	if (root->began_boot_ns || !file->root.pid)
		file->root = *root;
	DL_PREPEND(files->by_use, file);
	while (files->bytes > files->max_bytes && files->by_use->next)
		forget(files, files->by_use->prev);
	return 0;
}

static int note_location(struct noting *noting, uint32_t id, const struct source_root *root)
{
	const struct profile *profile = noting->profile;
	const struct location *location = &profile->locations[id];
	int err = 0;

	for (uint32_t i = 0; i < location->line_count && !err; i++) {
		uint32_t function = profile->lines[location->first_line + i].function;
		const char *path = profile_string(profile, profile->functions[function].filename);

		if (noting->functions[function] || path[0] != '/')
			continue;
		noting->functions[function] = true;
		err = add(noting->files, path, root);
	}
	return err;
}

static int note_sample(struct noting *noting, const struct sample *sample)
{
	const struct profile *profile = noting->profile;
	const struct task *task = &profile->tasks[sample->task];
	const struct source_root root = {
		.pid = task->pid,
		.is_told = true,
		.began_boot_ns = task->began_boot_ns,
	};
	int err = 0;

	for (uint32_t node = sample->node; node && !noting->nodes[node] && !err;
	     node = profile->nodes[node].parent) {
		noting->nodes[node] = true;
		err = note_location(noting, profile->nodes[node].location, &root);
	}
	return err;
}

int told_files_note(struct told_files *files, const struct profile *profile)
{
	_cleanup_free_ bool *seen =
		calloc((size_t)profile->node_count + profile->function_count, sizeof(*seen));
	struct noting noting = {.files = files, .profile = profile, .nodes = seen};
	int err = 0;

	if (!seen)
		return -ENOMEM;
	noting.functions = seen + profile->node_count;
	for (uint32_t i = 1; i < profile->sample_count && !err; i++)
		err = note_sample(&noting, &profile->samples[i]);
	return err;
}

bool told_files_find(const struct told_files *files, const char *path, struct source_root *ret_root)
{
	const struct told_file *file = find(files, path);

	if (file)
		*ret_root = file->root;
	return file;
}
