/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files read whole and split at their newlines, once each.
 */
#include "symbolize/source_text.h"

#include "base/buf.h"
#include "object/reach.h"
#include "proc/owner.h"
#include "symbolize/source_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
/* Without memory for the table a file is read again when it is asked for again. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* What one answer may take: files opened, and bytes held at a time. */
enum { MAX_CACHE_FILES = 1024, MAX_CACHE_BYTES = 32 << 20 };
enum { MAX_PIECE = 256 << 10 }; /* of one read */

struct source_text {
	struct buf bytes; /* lines, each with a NUL in the place of its newline */
	uint32_t *starts; /* of lines, in `bytes` */
	uint32_t count;
};

struct cached {
	char *file;
	struct source_text *text; /* NULL: cannot be read */
	UT_hash_handle hh;
};

struct source_cache {
	struct cached *by_file;
	size_t opened, bytes;
};

static int read_all(int fd, struct buf *bytes)
{
	struct stat status;
	size_t piece;

	if (fstat(fd, &status))
		return -errno;
	/* The whole of a small file at once, and that there is no more. */
	piece = status.st_size < MAX_PIECE ? (size_t)status.st_size + 1 : MAX_PIECE;
	while (bytes->len < MAX_SOURCE_BYTES) {
		size_t room = MAX_SOURCE_BYTES - bytes->len;
		void *at = buf_reserve(bytes, room < piece ? room : piece);
		ssize_t len;

		if (!at)
			return -ENOMEM;
		len = read(fd, at, room < piece ? room : piece);
		if (len < 0 && errno != EINTR)
			return -errno;
		if (!len)
			break;
		if (len > 0)
			buf_grown(bytes, (size_t)len);
	}
	return 0;
}

/* A file that ends with a newline has no empty line behind it. */
static int split(struct source_text *text)
{
	char *bytes = (char *)text->bytes.data;
	size_t len = text->bytes.len, lines = 1;

	if (!len)
		return 0;
	for (size_t i = 0; i + 1 < len; i++)
		lines += bytes[i] == '\n';
	text->starts = calloc(lines, sizeof(*text->starts));
	if (!text->starts)
		return -ENOMEM;
	for (size_t start = 0; start < len;) {
		char *newline = memchr(bytes + start, '\n', len - start);
		size_t end = newline ? (size_t)(newline - bytes) : len;
		size_t kept = end - start;

		for (size_t i = start; i < end; i++)
			if (!bytes[i])
				bytes[i] = '?';
		if (kept && bytes[start + kept - 1] == '\r')
			kept--;
		if (kept > MAX_SOURCE_LINE_BYTES)
			kept = MAX_SOURCE_LINE_BYTES;
		bytes[start + kept] = '\0'; /* a buffer has room for one */
		text->starts[text->count++] = (uint32_t)start;
		start = end + 1;
	}
	return 0;
}

/* Asked when the file is open: who is still the same then was so all the time. */
static bool is_another(const struct source_root *root)
{
	return root->is_told && reach_began_boot_ns(root->pid) > root->began_boot_ns;
}

/* Folders above a root folder may be closed to a user, and what is mounted below it is nobody's but
 * its processes'. So it counts what the host's first process has at that path. */
static int check_viewer(const struct source_root *root, const char *file, int fd, int err)
{
	_cleanup_close_ int public = -1;
	struct stat seen, own;
	int public_err;

	if (!root->viewer || (root->pid && owner_read_sole(root->pid) == root->viewer))
		return err;
	public_err = source_path_open("/proc/1/root", file, &public);
	if (err || public_err)
		return err == public_err ? err : -EPERM;
	if (fstat(fd, &seen) || fstat(public, &own))
		return -errno;
	return seen.st_dev == own.st_dev && seen.st_ino == own.st_ino ? 0 : -EPERM;
}

int source_text_read(const struct source_root *root, const char *file,
                     struct source_text **ret_text)
{
	_cleanup_(source_text_freep) struct source_text *text = calloc(1, sizeof(*text));
	_cleanup_close_ int fd = -1;
	char folder[32] = "/";
	int err;

	if (!text)
		return -ENOMEM;
	if (root->pid)
		snprintf(folder, sizeof(folder), "/proc/%u/root", root->pid);
	err = source_path_open(folder, file, &fd);
	err = check_viewer(root, file, fd, err);
	/* What the error would say is of the other one's files. */
	if (is_another(root))
		return -ESRCH;
	if (!err)
		err = read_all(fd, &text->bytes);
	if (!err)
		err = split(text);
	if (!err)
		*ret_text = TAKE_PTR(text);
	return err;
}

void source_text_free(struct source_text *text)
{
	if (!text)
		return;
	buf_release(&text->bytes);
	free(text->starts);
	free(text);
}

uint32_t source_text_count(const struct source_text *text)
{
	return text->count;
}

const char *source_text_line(const struct source_text *text, uint32_t number)
{
	if (!number || number > text->count)
		return NULL;
	return (const char *)text->bytes.data + text->starts[number - 1];
}

struct source_cache *source_cache_new(void)
{
	return calloc(1, sizeof(struct source_cache));
}

static void cached_free(struct cached *cached)
{
	source_text_free(cached->text);
	free(cached->file);
	free(cached);
}

static void clear(struct source_cache *cache)
{
	struct cached *cached, *next;

	HASH_ITER (hh, cache->by_file, cached, next) {
		HASH_DEL(cache->by_file, cached);
		cached_free(cached);
	}
	cache->bytes = 0;
}

void source_cache_free(struct source_cache *cache)
{
	if (!cache)
		return;
	clear(cache);
	free(cache);
}

static size_t text_memory(const struct source_text *text)
{
	return text ? text->bytes.capacity + text->count * sizeof(*text->starts) : 0;
}

static struct cached *load(struct source_cache *cache, const struct source_root *root,
                           const char *file)
{
	struct cached *cached;

	if (cache->opened >= MAX_CACHE_FILES)
		return NULL;
	cache->opened++;
	if (cache->bytes > MAX_CACHE_BYTES)
		clear(cache);
	cached = calloc(1, sizeof(*cached));
	if (!cached)
		return NULL;
	cached->file = strdup(file);
	if (!cached->file) {
		cached_free(cached);
		return NULL;
	}
	if (source_text_read(root, file, &cached->text))
		cached->text = NULL;
	HASH_ADD_KEYPTR(hh, cache->by_file, cached->file, strlen(cached->file), cached);
	if (!cached->hh.tbl) {
		cached_free(cached);
		return NULL;
	}
	cache->bytes += text_memory(cached->text);
	return cached;
}

const char *source_cache_line(struct source_cache *cache, const struct source_root *root,
                              const char *file, uint32_t number)
{
	struct cached *cached;

	HASH_FIND_STR(cache->by_file, file, cached);
	if (!cached)
		cached = load(cache, root, file);
	return cached && cached->text ? source_text_line(cached->text, number) : NULL;
}
