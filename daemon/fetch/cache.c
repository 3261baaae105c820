/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file's name consists of its build ID and its owner. Its modification time is the time of its
 * last use, so that the order outlives the daemon; while the daemon runs it is the order of the
 * table. Locks show whether a file is in use. They belong to open files: they are released with a
 * file's last descriptor, in whichever process that is.
 */
#include "fetch/cache.h"

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_ID = 2 * MAX_BUILD_ID_BYTES + 1,
	MAX_FILE_NAME = MAX_ID + 12,
	MAX_FILES = 65536, /* in the folder; the table takes 16 MiB for them */
	FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
};

static const char new_name[] = ".new";

struct cached {
	char build_id[MAX_ID];
	uint32_t owner;
	uint64_t bytes;
	struct timespec used; /* last use before the start */
	UT_hash_handle hh;
};

struct cache {
	int folder, files;
	uint64_t max_bytes;
	struct cached *table; /* least recently used first */
	struct cache_stats stats;
};

static void name_of(const struct cached *cached, char name[MAX_FILE_NAME])
{
	snprintf(name, MAX_FILE_NAME, "%s.%" PRIu32, cached->build_id, cached->owner);
}

/* The inverse; false: not a name that the cache gives. */
static bool parse_name(const char *name, struct cached *cached)
{
	char again[MAX_FILE_NAME];
	size_t len = strspn(name, "0123456789abcdef");

	if (!len || len >= MAX_ID || name[len] != '.')
		return false;
	memcpy(cached->build_id, name, len);
	cached->build_id[len] = '\0';
	cached->owner = (uint32_t)strtoul(name + len + 1, NULL, 10);
	name_of(cached, again);
	return !strcmp(name, again);
}

static struct cached *find(const struct cache *cache, const char *build_id)
{
	struct cached *cached;

	HASH_FIND_STR(cache->table, build_id, cached);
	return cached;
}

static int add(struct cache *cache, const struct cached *from)
{
	struct cached *cached =
		HASH_COUNT(cache->table) < MAX_FILES ? malloc(sizeof(*cached)) : NULL;

	if (!cached)
		return -ENOMEM;
	*cached = *from;
	HASH_ADD_STR(cache->table, build_id, cached);
	if (!cached->hh.tbl) {
		free(cached);
		return -ENOMEM;
	}
	cache->stats.files++;
	cache->stats.bytes += cached->bytes;
	return 0;
}

static void forget(struct cache *cache, struct cached *cached)
{
	cache->stats.files--;
	cache->stats.bytes -= cached->bytes;
	HASH_DEL(cache->table, cached);
	free(cached);
}

/* Moves the entry to the end of the order. When out of memory the entry is lost until the next
 * start. */
static void use(struct cache *cache, struct cached *cached)
{
	HASH_DEL(cache->table, cached);
	HASH_ADD_STR(cache->table, build_id, cached);
	if (cached->hh.tbl)
		return;
	cache->stats.files--;
	cache->stats.bytes -= cached->bytes;
	free(cached);
}

static int lock(int fd, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_SETLK, &whole) < 0 ? -errno : 0;
}

/* If locks do not work the file counts as unused. */
static bool is_in_use(const struct cache *cache, const char *name)
{
	_cleanup_close_ int fd = openat(cache->files, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? -errno : lock(fd, F_WRLCK);

	return err == -EAGAIN || err == -EACCES;
}

static bool evict(struct cache *cache, const uint32_t *owner)
{
	struct cached *cached, *next;
	char name[MAX_FILE_NAME];

	HASH_ITER (hh, cache->table, cached, next) {
		name_of(cached, name);
		if ((owner && cached->owner != *owner) || is_in_use(cache, name))
			continue;
		if (unlinkat(cache->files, name, 0) < 0 && errno != ENOENT)
			continue;
		forget(cache, cached);
		cache->stats.evicted++;
		return true;
	}
	return false;
}

static uint64_t bytes_of(const struct cache *cache, uint32_t owner)
{
	const struct cached *cached;
	uint64_t bytes = 0;

	for (cached = cache->table; cached; cached = cached->hh.next)
		bytes += cached->owner == owner ? cached->bytes : 0;
	return bytes;
}

static int make_room(struct cache *cache, uint32_t owner, uint64_t bytes)
{
	uint64_t share = owner ? cache->max_bytes / 2 : cache->max_bytes;

	if (bytes > share)
		return -EDQUOT;
	while (bytes_of(cache, owner) > share - bytes)
		if (!evict(cache, &owner))
			return -EDQUOT;
	while (cache->stats.bytes > cache->max_bytes - bytes)
		if (!evict(cache, NULL))
			return -ENOSPC;
	return 0;
}

static int by_use(const struct cached *a, const struct cached *b)
{
	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Adds a file of the folder to the table. A file that the cache did not make, or that is
 * unfinished, is removed: nothing else belongs in this folder. */
static void take_over(struct cache *cache, const char *name)
{
	struct cached cached = {0};
	struct stat st;

	if (parse_name(name, &cached) &&
	    fstatat(cache->files, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    !find(cache, cached.build_id)) {
		cached.bytes = (uint64_t)st.st_size;
		cached.used = st.st_mtim;
		if (add(cache, &cached) == 0)
			return;
	}
	unlinkat(cache->files, name, 0);
}

static int read_folder(struct cache *cache)
{
	_cleanup_(closedirp) DIR *entries = folder_open(cache->files, ".");
	const struct dirent *entry;

	if (!entries)
		return -errno;
	while ((entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			take_over(cache, entry->d_name);
	HASH_SORT(cache->table, by_use);
	return 0;
}

static int open_folders(struct cache *cache, const char *path)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	cache->folder = open(path, FOLDER);
	if (cache->folder < 0)
		return -errno;
	if (mkdirat(cache->folder, "files", 0700) < 0 && errno != EEXIST)
		return -errno;
	cache->files = openat(cache->folder, "files", FOLDER | O_NOFOLLOW);
	return cache->files < 0 ? -errno : 0;
}

int cache_open(const char *path, uint64_t max_bytes, struct cache **ret_cache)
{
	_cleanup_(cache_freep) struct cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->max_bytes = max_bytes;
	cache->folder = cache->files = -1;
	int err = open_folders(cache, path);
	if (err == 0)
		err = read_folder(cache);
	if (err)
		return err;
	while (cache->stats.bytes > max_bytes && evict(cache, NULL))
		;
	*ret_cache = TAKE_PTR(cache);
	return 0;
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	while (cache->table)
		forget(cache, cache->table);
	closep(&cache->files);
	closep(&cache->folder);
	free(cache);
}

int cache_folder(const struct cache *cache)
{
	return cache->folder;
}

int cache_get(struct cache *cache, const char *build_id)
{
	struct cached *cached = find(cache, build_id);
	char name[MAX_FILE_NAME];

	if (!cached)
		return -ENOENT;
	name_of(cached, name);
	int fd = openat(cache->files, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	/* Another process has removed the file. */
	if (fd < 0 && errno == ENOENT)
		forget(cache, cached);
	if (fd < 0)
		return -errno;
	/* If these calls fail the file is removed too early or too late, which does no harm. */
	lock(fd, F_RDLCK);
	futimens(fd, NULL);
	use(cache, cached);
	return fd;
}

int cache_begin(struct cache *cache)
{
	cache_drop(cache);
	int fd = openat(cache->files, new_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int cache_keep(struct cache *cache, const char *build_id, uint32_t owner, uint64_t bytes)
{
	struct cached cached = {.owner = owner, .bytes = bytes}, *before = find(cache, build_id);
	char name[MAX_FILE_NAME];

	if (before) {
		name_of(before, name);
		unlinkat(cache->files, name, 0);
		forget(cache, before);
	}
	snprintf(cached.build_id, sizeof(cached.build_id), "%s", build_id);
	name_of(&cached, name);
	int err = make_room(cache, owner, bytes);
	if (err == 0 && renameat(cache->files, new_name, cache->files, name) < 0)
		err = -errno;
	if (err == 0) {
		err = add(cache, &cached);
		if (err)
			unlinkat(cache->files, name, 0);
	}
	if (err)
		cache_drop(cache);
	return err;
}

void cache_drop(struct cache *cache)
{
	unlinkat(cache->files, new_name, 0);
}

void cache_get_stats(const struct cache *cache, struct cache_stats *ret_stats)
{
	*ret_stats = cache->stats;
}
