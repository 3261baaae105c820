/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One pass over the samples. Each node of a call path and each function is inspected once for
 * consecutive samples of the same container.
 */
#include "symbolize/told_files.h"

#include "base/table.h"
#include "object/reach.h"
#include "profile/select.h"

#include <errno.h>
#include <string.h>

#include <utlist.h>

struct told_file {
	struct source_root root;
	size_t bytes;
	struct told_file *prev, *next;
	UT_hash_handle hh;
	bool is_hosts;    /* named by processes that see the host's files there */
	const char *path; /* points into `name` */
	/* '+' or '-' for is_hosts, the container, a newline, which no id contains, the path. */
	char name[];
};

/* State of a pass over a profile. */
struct noting {
	struct told_files *files;
	const struct profile *profile;
	/* For each node and function, the samples in which it was seen last: twice the container's
	 * string plus 2, plus 1 for processes that see the host's files. */
	uint32_t *nodes, *functions;
	/* The process of the last sample. */
	uint32_t pid;
	bool is_hosts;
};

static void forget(struct told_files *files, struct told_file *file)
{
	HASH_DEL(files->by_name, file);
	DL_DELETE(files->by_use, file);
	files->bytes -= file->bytes;
	free(file);
}

void told_files_release(struct told_files *files)
{
	while (files->by_use)
		forget(files, files->by_use);
}

/* NULL when out of memory. */
static struct told_file *make(const char *path, const char *container, bool is_hosts)
{
	size_t path_len = strlen(path), container_len = strlen(container);
	size_t bytes = sizeof(struct told_file) + container_len + path_len + 3;
	struct told_file *file = calloc(1, bytes);

	if (!file)
		return NULL;
	file->bytes = bytes;
	file->is_hosts = is_hosts;
	file->name[0] = is_hosts ? '+' : '-';
	memcpy(file->name + 1, container, container_len);
	file->name[container_len + 1] = '\n';
	file->path = file->name + container_len + 2;
	memcpy(file->name + container_len + 2, path, path_len);
	return file;
}

/* Returns the entry with the name of `file`, which becomes the entry if there is none. Takes
 * ownership of `file`. NULL when out of memory. */
static struct told_file *known(struct told_files *files, struct told_file *file)
{
	struct told_file *found;

	if (!file)
		return NULL;
	HASH_FIND_STR(files->by_name, file->name, found);
	if (found) {
		free(file);
		DL_DELETE(files->by_use, found);
		return found;
	}
	HASH_ADD_KEYPTR(hh, files->by_name, file->name, strlen(file->name), file);
	if (!file->hh.tbl) {
		free(file);
		return NULL;
	}
	files->bytes += file->bytes;
	return file;
}

static int add(struct told_files *files, const char *path, const char *container, bool is_hosts,
               const struct source_root *root)
{
	struct told_file *file = known(files, make(path, container, is_hosts));

	if (!file)
		return -ENOMEM;
	/* A child that has just been forked has no known start time, and its files are mostly those
	 * of its parent: so a process with a known start time is kept. */
	if (root->began_boot_ns || !file->root.pid)
		file->root = *root;
	DL_PREPEND(files->by_use, file);
	while (files->bytes > files->max_bytes && files->by_use->next)
		forget(files, files->by_use->prev);
	return 0;
}

/* Samples of a process are mostly consecutive. */
static bool is_hosts(struct noting *noting, uint32_t pid)
{
	if (noting->pid != pid) {
		noting->pid = pid;
		noting->is_hosts = reach_sees_hosts(pid);
	}
	return noting->is_hosts;
}

static int note_location(struct noting *noting, uint32_t id, uint32_t container, uint32_t whose,
                         const struct source_root *root)
{
	const struct profile *profile = noting->profile;
	const struct location *location = &profile->locations[id];
	int err = 0;

	/* Files of native code are told by its debug information, of which only names are left if
	 * it was named by an earlier daemon. */
	if (profile->mappings[location->mapping].kind != MAPPING_INTERPRETED)
		return 0;
	for (uint32_t i = 0; i < location->line_count && !err; i++) {
		uint32_t function = profile->lines[location->first_line + i].function;
		const char *path = profile_string(profile, profile->functions[function].filename);

		if (noting->functions[function] == whose || path[0] != '/')
			continue;
		noting->functions[function] = whose;
		err = add(noting->files, path, profile_string(profile, container), whose & 1, root);
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
	const uint32_t whose = (task->container + 1) * 2 + is_hosts(noting, task->pid);
	int err = 0;

	for (uint32_t node = sample->node; node && noting->nodes[node] != whose && !err;
	     node = profile->nodes[node].parent) {
		/* What follows is of another process, whose files are other ones. */
		if (select_is_wakes(profile, node))
			break;
		noting->nodes[node] = whose;
		err = note_location(noting, profile->nodes[node].location, task->container, whose,
		                    &root);
	}
	return err;
}

int told_files_note(struct told_files *files, const struct profile *profile)
{
	_cleanup_free_ uint32_t *seen =
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

static bool is_of(const struct told_file *file, const char *container)
{
	size_t len = (size_t)(file->path - file->name) - 2;

	return strlen(container) == len && !memcmp(file->name + 1, container, len);
}

bool told_files_find(const struct told_files *files, const char *path, const char *container,
                     bool is_hosts, struct source_root *ret_root)
{
	const struct told_file *file;

	for (file = files->by_use; file; file = file->next) {
		if (file->is_hosts != is_hosts || strcmp(file->path, path) != 0 ||
		    (container && !is_of(file, container)))
			continue;
		*ret_root = file->root;
		return true;
	}
	return false;
}
