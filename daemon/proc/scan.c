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
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A line takes up to four times PATH_MAX, because a newline in a path is written as \\012. */
enum { CHUNK_BYTES = 64 * 1024 };

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

static uint32_t owner_of(const struct finder *finder, uint32_t pid)
{
	struct found *last = finder->last;

	if (!last)
		return owner_read(pid);
	if (last->pid != pid) {
		last->pid = pid;
		last->owner = owner_read(pid);
	}
	return last->owner;
}

/* The user of the process is read only when a file has to be opened, because most files are known
 * already. */
static uint32_t find_file(const struct finder *finder, struct place *place,
                          const struct file_key *key)
{
	struct found *last = finder->last;
	uint32_t id, opened_for = 0;

	if (last && key->inode && is_same_key(&last->key, key) &&
	    (!last->opened_for || last->opened_for == place->pid))
		return last->id;
	if (!store_knows(finder->store, key, place->path, &id)) {
		place->user = owner_of(finder, place->pid);
		opened_for = place->pid;
		if (finder->opener)
			id = opener_open(finder->opener, key, place);
		else if (store_open(finder->store, key, place, &id))
			id = 0;
	}
	if (last) {
		last->key = *key;
		last->id = id;
		last->opened_for = opened_for;
	}
	return id;
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
		mapping_set_own(image->set, owner_of(finder, pid));
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

/* Adds the executable mappings of a file. */
static int read_executable(struct buf *maps, int fd)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);
	size_t total = 0, rest = 0;

	while (chunk && total < MAX_PROC_FILE_BYTES && rest < CHUNK_BYTES && !buf_error(maps)) {
		ssize_t got = read(fd, chunk + rest, CHUNK_BYTES - rest);
		size_t left;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : 0;
		total += (size_t)got;
		left = maps_leave_executable(chunk, rest + (size_t)got, &rest);
		buf_add(maps, chunk, left - rest);
		memmove(chunk, chunk + left - rest, rest);
	}
	return !chunk ? -ENOMEM : buf_error(maps) ?: -EFBIG;
}

static int read_maps(struct buf *maps, uint32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : read_executable(maps, fd);
}

int scan_read(uint32_t pid, struct scan_text *ret_text)
{
	_cleanup_(buf_release) struct buf maps = {.max = MAX_EXECUTABLE_BYTES}, comm = BUF_INIT;
	char path[64];
	int err = read_maps(&maps, pid);

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (!err)
		err = buf_read_file(&comm, path, 256);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
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
