/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each file is read as a whole and split at its newlines once, by a reading that owns all that it
 * uses, because it may be left behind.
 */
#include "symbolize/source_text.h"

#include "base/buf.h"
#include "base/clock.h"
#include "object/reach.h"
#include "proc/owner.h"
#include "object/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_PIECE = 256 << 10 }; /* for one read() */
/* For a single requested file. */
static const struct source_budget ample = {
	.ns = 2 * NSEC_PER_SEC,
	.bytes = MAX_SOURCE_BYTES,
	.memory = SIZE_MAX,
};

/* For a reading that ends by itself when its time is over. */
static const uint64_t grace_ns = 100 * NSEC_PER_MSEC;

struct source_text {
	struct buf bytes; /* lines, each with a NUL in place of its newline */
	uint32_t *starts; /* of lines, in `bytes` */
	uint32_t count;
};

static int read_all(int fd, uint64_t until_ns, size_t max_bytes, struct buf *bytes)
{
	struct stat status;
	size_t piece;

	if (fstat(fd, &status))
		return -errno;
	/* One read() gets a small file as a whole and shows its end. */
	piece = status.st_size < MAX_PIECE ? (size_t)status.st_size + 1 : MAX_PIECE;
	while (bytes->len < max_bytes) {
		size_t room = max_bytes - bytes->len;
		void *at = buf_reserve(bytes, room < piece ? room : piece);
		ssize_t len;

		if (!at)
			return -ENOMEM;
		if (clock_mono_ns() >= until_ns)
			return -ETIMEDOUT;
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

static size_t count_lines(const struct source_text *text)
{
	const char *bytes = (const char *)text->bytes.data;
	size_t lines = text->bytes.len != 0;

	for (size_t i = 0; i + 1 < text->bytes.len; i++)
		lines += bytes[i] == '\n';
	return lines;
}

static size_t memory_of(const struct source_text *text, size_t lines)
{
	return text->bytes.len + lines * sizeof(*text->starts);
}

/* A newline at the end of the file does not begin an empty line. */
static int split(struct source_text *text, size_t max_memory)
{
	char *bytes = (char *)text->bytes.data;
	size_t len = text->bytes.len, lines = count_lines(text);

	if (!len)
		return 0;
	if (memory_of(text, lines) > max_memory)
		return -EFBIG;
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
		bytes[start + kept] = '\0'; /* a buffer has room for a NUL */
		text->starts[text->count++] = (uint32_t)start;
		start = end + 1;
	}
	return 0;
}

/* To be called when the file is open: a process that is the same then was the same all the time. */
static bool is_another(const struct source_root *root)
{
	return root->is_told && reach_began_boot_ns(root->pid) > root->began_boot_ns;
}

/* Folders above a root folder may be closed to a user, and mounts below it are visible to its
 * processes only. So the file at the same path of the host's first process decides. */
static int check_viewer(const struct source_root *root, const char *file, uint64_t until_ns, int fd,
                        int err)
{
	const struct path_root public_root = {"/proc/1/root", 1, until_ns, false, false};
	_cleanup_close_ int public = -1;
	struct stat seen, own;
	int public_err;

	if (!root->viewer || (root->pid && owner_read_sole(root->pid) == root->viewer))
		return err;
	public_err = path_open(&public_root, file, &public);
	if (err || public_err)
		return err == public_err ? err : -EPERM;
	if (fstat(fd, &seen) || fstat(public, &own))
		return -errno;
	return seen.st_dev == own.st_dev && seen.st_ino == own.st_ino ? 0 : -EPERM;
}

static int open_file(const struct source_root *root, const char *file, uint64_t until_ns,
                     int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	char folder[32] = "/";
	int err;

	if (root->pid)
		snprintf(folder, sizeof(folder), "/proc/%u/root", root->pid);
	err = path_open(&(struct path_root){folder, root->pid, until_ns, false, false}, file, &fd);
	err = check_viewer(root, file, until_ns, fd, err);
	/* Any other error would be about the files of the new process. */
	if (is_another(root))
		return -ESRCH;
	if (!err)
		*ret_fd = TAKE_FD(fd);
	return err;
}

/* On failure `text` contains what was read until then. */
static int read_text(const struct source_root *root, const char *file,
                     const struct source_budget *budget, struct source_text *text)
{
	const size_t max_bytes =
		budget->bytes < MAX_SOURCE_BYTES ? budget->bytes : MAX_SOURCE_BYTES;
	const uint64_t until_ns = clock_mono_ns() + budget->ns;
	_cleanup_close_ int fd = -1;
	int err = open_file(root, file, until_ns, &fd);

	if (!err)
		err = read_all(fd, until_ns, max_bytes, &text->bytes);
	return err ? err : split(text, budget->memory);
}

struct reading {
	struct aside_call call;
	struct source_root root;
	struct source_budget budget;
	char *file;
	struct source_text *text;
	int err;
};

static void reading_free(struct reading *reading)
{
	if (!reading)
		return;
	source_text_free(reading->text);
	free(reading->file);
	free(reading);
}
DEFINE_CLEANUP(struct reading *, reading_free)

static void free_call(struct aside_call *call)
{
	reading_free((struct reading *)call);
}

/* On the thread aside. */
static void run_reading(struct aside_call *call)
{
	struct reading *reading = (struct reading *)call;

	reading->err = read_text(&reading->root, reading->file, &reading->budget, reading->text);
}

static struct reading *reading_new(const struct source_root *root, const char *file,
                                   const struct source_budget *budget)
{
	_cleanup_(reading_freep) struct reading *reading = calloc(1, sizeof(*reading));

	if (!reading)
		return NULL;
	reading->call = (struct aside_call){.owner = root->pid ? owner_read(root->pid) : 0,
	                                    .pid = root->pid,
	                                    .run = run_reading,
	                                    .free = free_call};
	reading->root = *root;
	reading->budget = *budget;
	reading->file = strdup(file);
	reading->text = calloc(1, sizeof(*reading->text));
	return reading->file && reading->text ? TAKE_PTR(reading) : NULL;
}

int source_text_read_within(struct aside *aside, const struct source_root *root, const char *file,
                            struct source_budget *budget, struct source_text **ret_text)
{
	_cleanup_(reading_freep) struct reading *reading = reading_new(root, file, budget);
	const uint64_t start_ns = clock_mono_ns();
	uint64_t spent_ns;
	int err;

	if (!reading)
		return -ENOMEM;
	err = aside_run(aside, &reading->call, budget->ns + grace_ns);
	spent_ns = clock_mono_ns() - start_ns;
	budget->ns -= spent_ns < budget->ns ? spent_ns : budget->ns;
	if (err == -ETIMEDOUT)
		reading = NULL;
	if (err)
		return -ETIMEDOUT;
	budget->bytes -= reading->text->bytes.len;
	if (!reading->err)
		*ret_text = TAKE_PTR(reading->text);
	return reading->err;
}

int source_text_read(struct aside *aside, const struct source_root *root, const char *file,
                     struct source_text **ret_text)
{
	struct source_budget budget = ample;

	return source_text_read_within(aside, root, file, &budget, ret_text);
}

void source_text_free(struct source_text *text)
{
	if (!text)
		return;
	buf_release(&text->bytes);
	free(text->starts);
	free(text);
}

size_t source_text_memory(const struct source_text *text)
{
	return memory_of(text, text->count);
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
