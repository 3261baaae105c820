/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes profiles as files: profd-HOST-KIND-20261127T204600.123Z.pb.gz, with the time when the
 * interval began. Only files with such a name and this host's are ever removed, so hosts of
 * different names can share a directory. A file gets its name when it is whole and on the disk.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "export/exporter.h"

#include <dirent.h>
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
	TIME_BYTES = sizeof("20261127T204600.123Z"),
	/* All of them are listed for each new one. A year of minutes has fewer, of one kind. */
	MAX_FILES = 500 * 1000,
};

/* A profile in the directory. */
struct found {
	char *name;
	const char *time; /* in `name`, with its suffix */
	uint64_t bytes;
};

struct listing {
	struct found *found;
	size_t count, capacity;
	uint64_t bytes; /* of all */
};

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->found[i].name);
	free(listing->found);
}

/* What is in the names of this host's files. */
static void prefix_of(const struct exported *profile, char prefix[NAME_BYTES])
{
	snprintf(prefix, NAME_BYTES, "profd-%.64s-", profile->host);
	for (char *at = prefix; *at; at++)
		if (*at == '/')
			*at = '_';
}

static void name_of(const struct exported *profile, char name[NAME_BYTES])
{
	time_t seconds = (time_t)(profile->start_unix_ns / NSEC_PER_SEC);
	char text[SECONDS_BYTES] = "", prefix[NAME_BYTES];
	struct tm time;

	if (gmtime_r(&seconds, &time))
		strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &time);
	prefix_of(profile, prefix);
	snprintf(name, NAME_BYTES, "%.80s%.32s-%s.%03uZ%.16s", prefix, profile->kind, text,
	         (unsigned int)(profile->start_unix_ns / NSEC_PER_MSEC % 1000), profile->suffix);
}

/* Where the time begins in the name of one of this host's profiles; NULL: it is none. */
static const char *time_in(const char *name, const struct exported *profile)
{
	char prefix[NAME_BYTES];
	size_t len;

	prefix_of(profile, prefix);
	len = strlen(prefix);
	const char *dash = strncmp(name, prefix, len) ? NULL : strchr(name + len, '-');
	size_t digits = dash ? strspn(dash + 1, "0123456789.TZ") : 0;

	if (!digits || dash[TIME_BYTES - 1] != 'Z' || digits < TIME_BYTES - 1)
		return NULL;
	return strcmp(dash + TIME_BYTES, profile->suffix) ? NULL : dash + 1;
}

static int add_found(struct listing *listing, const char *name, size_t time_at, uint64_t bytes)
{
	if (listing->count == listing->capacity) {
		size_t capacity = listing->capacity ? 2 * listing->capacity : 64;
		struct found *grown = reallocarray(listing->found, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		listing->found = grown;
		listing->capacity = capacity;
	}
	char *copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	listing->found[listing->count++] = (struct found){copy, copy + time_at, bytes};
	listing->bytes += bytes;
	return 0;
}

static void closedirp(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static int list(int folder, const struct exported *profile, struct listing *listing)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int err = 0;

	if (!directory) {
		err = -errno;
		closep(&copy);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(directory))) {
		const char *time = time_in(entry->d_name, profile);
		struct stat stat;

		if (time && !fstatat(folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(stat.st_mode))
			err = add_found(listing, entry->d_name, (size_t)(time - entry->d_name),
			                (uint64_t)stat.st_size);
	}
	return err ?: -errno;
}

static int compare_times(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->time, ((const struct found *)b)->time);
}

/* Removes the oldest profiles until there is room for one more. */
static int make_room(int folder, uint64_t max_bytes, const struct exported *profile)
{
	_cleanup_(listing_release) struct listing listing = {0};
	int err = list(folder, profile, &listing);

	if (err)
		return err;
	if (listing.count)
		qsort(listing.found, listing.count, sizeof(*listing.found), compare_times);
	for (size_t i = 0; i < listing.count && (listing.bytes + profile->len > max_bytes ||
	                                         listing.count - i >= MAX_FILES);
	     i++) {
		if (unlinkat(folder, listing.found[i].name, 0) && errno != ENOENT)
			return -errno;
		listing.bytes -= listing.found[i].bytes;
	}
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	/* The group may read profiles, whatever the umask is. */
	return fchmod(fd, 0640) || fdatasync(fd) ? -errno : 0;
}

static int write_file(int folder, const char *name, const struct exported *profile)
{
	char prefix[NAME_BYTES], new[NAME_BYTES];
	int fd, err;

	prefix_of(profile, prefix);
	snprintf(new, sizeof(new), ".%.80snew", prefix);
	/* Left behind by a daemon that was killed. */
	if (unlinkat(folder, new, 0) && errno != ENOENT)
		return -errno;
	fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, profile->bytes, profile->len);
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

	if (fd >= 0)
		return fd;
	if (errno != ENOENT || mkdir(place, 0700))
		return -errno;
	fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Whatever the umask is. */
	if (fd >= 0 && !fchmod(fd, 0750))
		return fd;
	closep(&fd);
	return -EACCES;
}

static bool directory_accepts(const char *place)
{
	return place[0] == '/';
}

static int directory_put(const char *place, uint64_t max_bytes, const struct exported *profile)
{
	_cleanup_(closep) int folder = -1;
	char name[NAME_BYTES];
	int err;

	if (profile->len > max_bytes)
		return -EFBIG;
	folder = open_folder(place);
	if (folder < 0)
		return folder;
	name_of(profile, name);
	err = make_room(folder, max_bytes, profile);
	return err ? err : write_file(folder, name, profile);
}

const struct exporter exporter_directory = {
	.name = "directory",
	.accepts = directory_accepts,
	.put = directory_put,
};
