/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All profiles of a host in a directory are listed for each new one, so that nothing need be kept
 * in memory, and whoever removes files by hand changes nothing.
 */
#include "past/profile_files.h"

#include "base/clock.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	NAME_BYTES = 256, /* NAME_MAX and a NUL */
	SECONDS_BYTES = sizeof("20261127T204600"),
};

#define SECONDS_FORMAT "%Y%m%dT%H%M%S"

static struct profile_found *found_in(const struct profile_files *files)
{
	return (struct profile_found *)(void *)files->found.data;
}

static size_t count_of(const struct profile_files *files)
{
	return files->found.len / sizeof(struct profile_found);
}

void profile_files_release(struct profile_files *files)
{
	buf_release(&files->found);
	closep(&files->folder);
}

/* The beginning of the names of a host's profiles. */
static void prefix_of(const char *host, char prefix[NAME_BYTES])
{
	snprintf(prefix, NAME_BYTES, "profd-%.64s-", host);
	for (char *at = prefix; *at; at++)
		if (*at == '/')
			*at = '_';
}

static void name_of(const struct profile_file *file, char name[NAME_BYTES])
{
	time_t seconds = (time_t)(file->start_unix_ns / NSEC_PER_SEC);
	char prefix[NAME_BYTES], text[SECONDS_BYTES] = "";
	struct tm time;

	prefix_of(file->host, prefix);
	if (gmtime_r(&seconds, &time))
		strftime(text, sizeof(text), SECONDS_FORMAT, &time);
	snprintf(name, NAME_BYTES, "%.80s%.23s-%s.%03uZ%.16s", prefix, file->kind, text,
	         (unsigned int)(file->start_unix_ns / NSEC_PER_MSEC % 1000), file->suffix);
}

static void name_of_found(const struct profile_files *files, const struct profile_found *found,
                          char name[NAME_BYTES])
{
	const struct profile_file file = {.host = files->host,
	                                  .kind = found->kind,
	                                  .suffix = files->suffix,
	                                  .start_unix_ns = found->start_unix_ns};

	name_of(&file, name);
}

/* The reverse of name_of(), for one of the host's profiles of any kind; false: it is none. */
static bool read_name(const struct profile_files *files, const char *prefix, const char *name,
                      struct profile_found *found)
{
	size_t len = strlen(prefix);
	const char *kind = name + len;
	const char *dash = strncmp(name, prefix, len) ? NULL : strchr(kind, '-');
	struct tm time = {0};
	const char *point = dash ? strptime(dash + 1, SECONDS_FORMAT, &time) : NULL;
	char expected[NAME_BYTES];

	if (!point || *point != '.' || dash - kind >= PROFILE_KIND_BYTES)
		return false;
	*found = (struct profile_found){0};
	memcpy(found->kind, kind, (size_t)(dash - kind));
	found->start_unix_ns = (uint64_t)timegm(&time) * NSEC_PER_SEC +
	                       strtoul(point + 1, NULL, 10) * NSEC_PER_MSEC;
	/* There are other ways to write a time. */
	name_of_found(files, found, expected);
	return !strcmp(name, expected);
}

static int list(struct profile_files *files)
{
	_cleanup_(closedirp) DIR *entries = folder_open(files->folder, ".");
	const struct dirent *entry;
	char prefix[NAME_BYTES];
	int err = 0;

	if (!entries)
		return -errno;
	prefix_of(files->host, prefix);
	while (count_of(files) < MAX_PROFILE_FILES) {
		struct profile_found found;
		struct stat stat;

		errno = 0;
		entry = readdir(entries);
		if (!entry) {
			err = -errno;
			break;
		}
		if (!read_name(files, prefix, entry->d_name, &found) ||
		    fstatat(files->folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(stat.st_mode))
			continue;
		found.bytes = (uint64_t)stat.st_size;
		files->bytes += found.bytes;
		buf_add(&files->found, &found, sizeof(found));
	}
	return err ?: buf_error(&files->found);
}

static int compare_times(const void *a, const void *b)
{
	const struct profile_found *first = a, *second = b;

	return (first->start_unix_ns > second->start_unix_ns) -
	       (first->start_unix_ns < second->start_unix_ns);
}

/* Removes the oldest profiles until there is room for one more. */
static int make_room(const struct profile_files *files, size_t len, uint64_t max_bytes)
{
	const struct profile_found *found = found_in(files);
	size_t count = count_of(files);
	uint64_t bytes = files->bytes;

	for (size_t i = 0; i < count && (bytes + len > max_bytes || count - i >= MAX_PROFILE_FILES);
	     i++) {
		char name[NAME_BYTES];

		name_of_found(files, &found[i], name);
		if (unlinkat(files->folder, name, 0) && errno != ENOENT)
			return -errno;
		bytes -= found[i].bytes;
	}
	return 0;
}

static int write_whole(int fd, const struct profile_file *file)
{
	int err = write_all(fd, file->bytes, file->len);

	if (err)
		return err;
	/* The group may read profiles, whatever the umask is. */
	return fchmod(fd, 0640) || fdatasync(fd) ? -errno : 0;
}

static int write_file(int folder, const struct profile_file *file)
{
	char prefix[NAME_BYTES], new[NAME_BYTES], name[NAME_BYTES];
	int fd, err;

	name_of(file, name);
	prefix_of(file->host, prefix);
	snprintf(new, sizeof(new), ".%.80snew", prefix);
	/* Left behind by a daemon that was killed. */
	if (unlinkat(folder, new, 0) && errno != ENOENT)
		return -errno;
	fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_whole(fd, file);
	close(fd);
	if (!err && renameat(folder, new, folder, name))
		err = -errno;
	if (err)
		unlinkat(folder, new, 0);
	return err;
}

static int open_folder(const char *place)
{
	int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int make_folder(const char *place)
{
	int fd = open_folder(place);

	if (fd != -ENOENT)
		return fd;
	if (mkdir(place, 0700))
		return -errno;
	fd = open_folder(place);
	/* Whatever the umask is. */
	if (fd >= 0 && !fchmod(fd, 0750))
		return fd;
	closep(&fd);
	return -EACCES;
}

/* Takes over the folder. */
static int list_sorted(int folder, const char *host, const char *suffix,
                       struct profile_files *files)
{
	size_t count;
	int err;

	*files = (struct profile_files){.host = host, .suffix = suffix, .folder = folder};
	if (folder < 0)
		return folder;
	err = list(files);
	count = count_of(files);
	if (!err && count)
		qsort(found_in(files), count, sizeof(struct profile_found), compare_times);
	return err;
}

int profile_files_put(const char *place, uint64_t max_bytes, const struct profile_file *file)
{
	_cleanup_(profile_files_release) struct profile_files files = {.folder = -1};
	int err;

	if (file->len > max_bytes)
		return -EFBIG;
	err = list_sorted(make_folder(place), file->host, file->suffix, &files);
	if (!err)
		err = make_room(&files, file->len, max_bytes);
	return err ? err : write_file(files.folder, file);
}

int profile_files_list(const char *place, const char *host, const char *suffix,
                       struct profile_files *files)
{
	int err = list_sorted(open_folder(place), host, suffix, files);

	/* Nothing was put yet. */
	return err == -ENOENT ? 0 : err;
}

const struct profile_found *profile_files_next(const struct profile_files *files, const char *kind,
                                               const struct profile_found *previous)
{
	const struct profile_found *end = found_in(files) + count_of(files);

	for (previous = previous ? previous + 1 : found_in(files); previous < end; previous++)
		if (!strcmp(previous->kind, kind))
			return previous;
	return NULL;
}

int profile_files_read(const struct profile_files *files, const struct profile_found *found,
                       size_t max, struct buf *bytes)
{
	char name[NAME_BYTES];
	_cleanup_close_ int fd = -1;
	struct stat stat;

	name_of_found(files, found, name);
	fd = openat(files->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stat))
		return -errno;
	/* In a directory of others, they could make files with any contents. */
	if (!S_ISREG(stat.st_mode) || stat.st_uid != geteuid())
		return -EPERM;
	return buf_read_fd(bytes, fd, max);
}
