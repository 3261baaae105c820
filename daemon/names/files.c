/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A few dozen files in an array. A look-up goes through them one by one, because the request that
 * it is for takes much longer.
 */
#include "names/files.h"

#include <errno.h>
#include <malloc.h>

enum {
	MAX_OPEN_FILES = 64,
	/* Limit of data that can be read again: enough for the files that a web page or a poller
	 * asks about every second, and within the memory that all processes of profd may keep after
	 * questions. */
	KEPT_BYTES = 16 << 20,
};

struct open_file {
	uint64_t number, last_used;
	struct named_file *file; /* NULL: a free place */
};

struct names_files {
	uint64_t max_bytes, uses;
	struct open_file open[MAX_OPEN_FILES];
};

struct names_files *names_files_new(uint64_t max_bytes)
{
	struct names_files *files = calloc(1, sizeof(*files));

	if (files)
		files->max_bytes = max_bytes;
	return files;
}

static void close_file(struct open_file *open)
{
	named_file_free(open->file);
	*open = (struct open_file){0};
}

void names_files_free(struct names_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < MAX_OPEN_FILES; i++)
		close_file(&files->open[i]);
	free(files);
}

static struct open_file *find(struct names_files *files, uint64_t number)
{
	for (size_t i = 0; i < MAX_OPEN_FILES; i++) {
		if (files->open[i].file && files->open[i].number == number)
			return &files->open[i];
	}
	return NULL;
}

/* The least recently used file other than `except`; NULL when there is none. */
static struct open_file *oldest(struct names_files *files, const struct open_file *except)
{
	struct open_file *found = NULL;

	for (size_t i = 0; i < MAX_OPEN_FILES; i++) {
		struct open_file *open = &files->open[i];
		if (open != except && open->file && (!found || open->last_used < found->last_used))
			found = open;
	}
	return found;
}

static uint64_t memory(const struct names_files *files)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MAX_OPEN_FILES; i++) {
		if (files->open[i].file)
			sum += named_file_memory(files->open[i].file);
	}
	return sum;
}

static void make_room(struct names_files *files, const struct open_file *except)
{
	struct open_file *victim;
	bool closed = false;

	while (memory(files) > files->max_bytes && (victim = oldest(files, except))) {
		close_file(victim);
		closed = true;
	}
	if (closed)
		malloc_trim(0);
}

void names_files_forget(struct names_files *files)
{
	for (size_t i = 0; i < MAX_OPEN_FILES; i++) {
		if (files->open[i].file)
			named_file_forget(files->open[i].file);
	}
}

static struct open_file *free_place(struct names_files *files)
{
	for (size_t i = 0; i < MAX_OPEN_FILES; i++) {
		if (!files->open[i].file)
			return &files->open[i];
	}
	struct open_file *victim = oldest(files, NULL);
	close_file(victim);
	return victim;
}

int names_files_get(struct names_files *files, uint64_t number, const int fds[FILE_COUNT],
                    struct named_file **ret_file)
{
	struct open_file *open = find(files, number);

	if (memory(files) > KEPT_BYTES)
		names_files_forget(files);
	make_room(files, open);
	if (open) {
		for (int i = 0; i < FILE_COUNT; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	} else {
		struct named_file *file;
		int err = named_file_open(fds, &file);
		if (err < 0)
			return err;
		named_file_keep(file, files->max_bytes / 2);
		open = free_place(files);
		*open = (struct open_file){.number = number, .file = file};
	}
	open->last_used = ++files->uses;
	*ret_file = open->file;
	return 0;
}

bool names_files_keep_only(struct names_files *files, uint64_t number)
{
	const struct open_file *kept = find(files, number);
	struct open_file *victim;
	bool closed = false;

	while ((victim = oldest(files, kept))) {
		close_file(victim);
		closed = true;
	}
	if (closed)
		malloc_trim(0);
	return closed;
}
