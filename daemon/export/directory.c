/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes profiles as files: profd-HOST-KIND-20261127T204600.123Z.pb.gz, with the time when the
 * interval began. Only files with such a name and this host's are ever removed, so hosts of
 * different names can share a directory. A file gets its name when it is whole and on the disk.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "export/exporter.h"

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

/* A profile that is put, and where. */
struct putting {
	const struct exported *profile;
	int folder;
	char prefix[NAME_BYTES]; /* of the names of this host's profiles */
};

/* A profile in the directory. */
struct found {
	char *name;
	const char *time; /* in `name`, with its suffix */
	uint64_t bytes;
};

struct listing {
	struct buf found; /* struct found, one after the other */
	uint64_t bytes;   /* of all */
};

static struct found *found_in(const struct listing *listing)
{
	return (struct found *)(void *)listing->found.data;
}

static size_t count_of(const struct listing *listing)
{
	return listing->found.len / sizeof(struct found);
}

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < count_of(listing); i++)
		free(found_in(listing)[i].name);
	buf_release(&listing->found);
}

static void set_prefix(struct putting *putting)
{
	snprintf(putting->prefix, sizeof(putting->prefix), "profd-%.64s-", putting->profile->host);
	for (char *at = putting->prefix; *at; at++)
		if (*at == '/')
			*at = '_';
}

static void name_of(const struct putting *putting, char name[NAME_BYTES])
{
	const struct exported *profile = putting->profile;
	time_t seconds = (time_t)(profile->start_unix_ns / NSEC_PER_SEC);
	char text[SECONDS_BYTES] = "";
	struct tm time;

	if (gmtime_r(&seconds, &time))
		strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &time);
	snprintf(name, NAME_BYTES, "%.80s%.32s-%s.%03uZ%.16s", putting->prefix, profile->kind, text,
	         (unsigned int)(profile->start_unix_ns / NSEC_PER_MSEC % 1000), profile->suffix);
}

/* Where the time begins in the name of one of this host's profiles; NULL: it is none. */
static const char *time_in(const struct putting *putting, const char *name)
{
	size_t len = strlen(putting->prefix);
	const char *dash = strncmp(name, putting->prefix, len) ? NULL : strchr(name + len, '-');
	size_t digits = dash ? strspn(dash + 1, "0123456789.TZ") : 0;

	if (!digits || dash[TIME_BYTES - 1] != 'Z' || digits < TIME_BYTES - 1)
		return NULL;
	return strcmp(dash + TIME_BYTES, putting->profile->suffix) ? NULL : dash + 1;
}

static int add_found(struct listing *listing, const char *name, const char *time, uint64_t bytes)
{
	struct found found = {.name = strdup(name), .bytes = bytes};

	if (!found.name)
		return -ENOMEM;
	found.time = found.name + (time - name);
	buf_add(&listing->found, &found, sizeof(found));
	if (buf_error(&listing->found)) {
		free(found.name);
		return -ENOMEM;
	}
	listing->bytes += bytes;
	return 0;
}

static int list(const struct putting *putting, struct listing *listing)
{
	_cleanup_(closedirp) DIR *entries = folder_open(putting->folder, ".");
	const struct dirent *entry;
	int err = 0;

	if (!entries)
		return -errno;
	while (!err && (errno = 0, entry = readdir(entries))) {
		const char *time = time_in(putting, entry->d_name);
		struct stat stat;

		if (time && !fstatat(putting->folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(stat.st_mode))
			err = add_found(listing, entry->d_name, time, (uint64_t)stat.st_size);
	}
	return err ?: -errno;
}

static int compare_times(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->time, ((const struct found *)b)->time);
}

/* Removes the oldest profiles until there is room for one more. */
static int make_room(const struct putting *putting, uint64_t max_bytes)
{
	_cleanup_(listing_release) struct listing listing = {0};
	int err = list(putting, &listing);
	struct found *found = found_in(&listing);
	size_t count = count_of(&listing);

	if (err)
		return err;
	if (count)
		qsort(found, count, sizeof(*found), compare_times);
	for (size_t i = 0; i < count && (listing.bytes + putting->profile->len > max_bytes ||
	                                 count - i >= MAX_FILES);
	     i++) {
		if (unlinkat(putting->folder, found[i].name, 0) && errno != ENOENT)
			return -errno;
		listing.bytes -= found[i].bytes;
	}
	return 0;
}

static int write_profile(int fd, const struct exported *profile)
{
	int err = write_all(fd, profile->bytes, profile->len);

	if (err)
		return err;
	/* The group may read profiles, whatever the umask is. */
	return fchmod(fd, 0640) || fdatasync(fd) ? -errno : 0;
}

static int write_file(const struct putting *putting)
{
	char new[NAME_BYTES], name[NAME_BYTES];
	int fd, err;

	name_of(putting, name);
	snprintf(new, sizeof(new), ".%.80snew", putting->prefix);
	/* Left behind by a daemon that was killed. */
	if (unlinkat(putting->folder, new, 0) && errno != ENOENT)
		return -errno;
	fd = openat(putting->folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	            0600);
	if (fd < 0)
		return -errno;
	err = write_profile(fd, putting->profile);
	close(fd);
	if (!err && renameat(putting->folder, new, putting->folder, name))
		err = -errno;
	if (err)
		unlinkat(putting->folder, new, 0);
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
	struct putting putting = {.profile = profile};
	_cleanup_close_ int folder = -1;
	int err;

	if (profile->len > max_bytes)
		return -EFBIG;
	folder = open_folder(place);
	if (folder < 0)
		return folder;
	putting.folder = folder;
	set_prefix(&putting);
	err = make_room(&putting, max_bytes);
	return err ? err : write_file(&putting);
}

const struct exporter exporter_directory = {
	.name = "directory",
	.accepts = directory_accepts,
	.put = directory_put,
};
