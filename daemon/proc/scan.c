/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads /proc/PID/maps and comm. Every file may vanish between two calls, which is never an error
 * here.
 */
#include "proc/scan.h"

#include "base/bounds.h"
#include "base/buf.h"
#include "base/files.h"
#include "base/text.h"
#include "object/maps.h"
#include "proc/owner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int scan_all(scan_fn *fn, void *ctx)
{
	_cleanup_(closedirp) DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		uint64_t pid;
		int err;

		if (text_parse_u64(entry->d_name, 1, UINT32_MAX, &pid))
			continue;
		err = fn((uint32_t)pid, ctx);
		if (err)
			return err;
	}
	return 0;
}

/* Anonymous memory has no path in /proc, and "//anon" in side-band records. */
static const char *plain_path(const char *path)
{
	return strncmp(path, "//anon", 6) == 0 ? "" : path;
}

static bool is_same_key(const struct file_key *a, const struct file_key *b)
{
	return a->inode == b->inode && a->generation == b->generation && a->major == b->major &&
	       a->minor == b->minor;
}

/* The user of the process is read only when a file has to be opened, because most files are known
 * already. */
static uint32_t find_file(const struct finder *finder, struct place *place,
                          const struct file_key *key)
{
	struct found *last = finder->last;
	uint32_t id;

	if (last && key->inode && is_same_key(&last->key, key))
		return last->id;
	if (store_knows(finder->store, key, place->path, &id)) {
		if (last)
			*last = (struct found){*key, id};
		return id;
	}
	place->user = owner_read(place->pid);
	if (finder->opener)
		return opener_open(finder->opener, key, place);
	return store_open(finder->store, key, place, &id) ? 0 : id;
}

int scan_map(const struct finder *finder, uint32_t pid, struct image *image,
             struct proc_mapping *mapping, const struct file_key *key, const char *path)
{
	struct place place = {
		.pid = pid,
		.start = mapping->start,
		.end = mapping->end,
		.file = {key->major, key->minor, key->inode},
		.path = plain_path(path),
	};

	if (mapping_set_wants_owner(image->set))
		mapping_set_own(image->set, owner_read(pid));
	mapping->object = find_file(finder, &place, key);
	mapping->path = place.path;
	return mapping_set_add(&image->set, mapping);
}

struct reading {
	const struct finder *finder;
	uint32_t pid;
	struct image *image;
};

static int read_line(const struct maps_line *line, void *ctx)
{
	struct reading *reading = ctx;
	struct proc_mapping mapping = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
	};
	struct file_key key = {
		.major = line->major,
		.minor = line->minor,
		.inode = line->inode,
	};
	char path[MAX_PATH_BYTES];

	if (!line->executable)
		return 0;
	snprintf(path, sizeof(path), "%.*s", (int)line->path_len, line->path);
	return scan_map(reading->finder, reading->pid, reading->image, &mapping, &key, path);
}

void scan_text_release(struct scan_text *text)
{
	buf_release(&text->maps);
}

int scan_read(uint32_t pid, struct scan_text *ret_text)
{
	_cleanup_(buf_release) struct buf maps = BUF_INIT, comm = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	if (buf_read_file(&maps, path, MAX_PROC_FILE_BYTES))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (buf_read_file(&comm, path, 256))
		return -ESRCH;
	/* The kernel appends a newline; the name itself may contain newlines as well. */
	snprintf(ret_text->comm, sizeof(ret_text->comm), "%.*s", (int)(comm.len ? comm.len - 1 : 0),
	         buf_text(&comm));
	ret_text->maps = maps;
	maps = BUF_INIT;
	return 0;
}

int scan_apply(const struct finder *finder, uint32_t pid, const struct scan_text *text,
               struct image *image)
{
	_cleanup_(mapping_set_unrefp) struct mapping_set *before = NULL;
	struct reading reading = {finder, pid, image};
	struct mapping_set *fresh = mapping_set_new(finder->room);

	if (!fresh)
		return -ENOMEM;
	before = image->set;
	image->set = fresh;
	memcpy(image->comm, text->comm, sizeof(image->comm));
	int err = maps_parse(buf_text(&text->maps), text->maps.len, read_line, &reading);
	/* An unchanged set is kept, so that other processes go on sharing it. */
	if (before && mapping_set_equal(before, image->set)) {
		struct mapping_set *same = before;

		before = image->set;
		image->set = same;
	}
	return err;
}

bool scan_exists(uint32_t pid)
{
	return scan_threads(pid) > 0;
}

uint32_t scan_threads(uint32_t pid)
{
	char path[64];
	struct stat status;

	/* The link count of the folder is 2 plus the number of threads; this is cheaper than
	 * reading the folder. */
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	if (stat(path, &status) || status.st_nlink < 3)
		return 0;
	return (uint32_t)status.st_nlink - 2;
}
