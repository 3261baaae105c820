/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The library downloads into a file that it makes itself. The file is then copied, and the daemon
 * uses only the copy.
 */
#include "fetch/answer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/files.h"
#include "fetch/library.h"
#include "fetch/room.h"
#include "fetch/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { MAX_TRIES = 3, COPIED_AT_ONCE = 1 << 20 };

/* Global, because the library passes its callback no context without a further library function. */
static struct {
	uint64_t until_ns;
	uint64_t received; /* in earlier tries */
	uint64_t of_try;
} progress;

static bool is_over(void)
{
	return clock_mono_ns() >= progress.until_ns;
}

/* Called while the library waits; any value other than 0 cancels the download. */
static int keep_going(debuginfod_client *client, long done, long total)
{
	(void)client;
	(void)total;
	if (done > 0 && (uint64_t)done > progress.of_try)
		progress.of_try = (uint64_t)done;
	return is_over();
}

/* The smaller of `ours` and the operator's setting, if there is one. */
static uint64_t least(const char *name, uint64_t ours)
{
	const char *value = getenv(name);
	long long theirs = value ? strtoll(value, NULL, 10) : 0;

	return theirs > 0 && (uint64_t)theirs < ours ? (uint64_t)theirs : ours;
}

/* The operator's settings of time limit, headers and proxies remain. The library's own retries are
 * turned off: after a download that broke off they read freed memory, and write past what they have
 * written (0.188 and later, debuginfod-client.c, query_in_parallel). */
static int configure(const struct fetch_question *question, const char *servers)
{
	uint64_t max_seconds = least(DEBUGINFOD_MAXTIME_ENV_VAR, question->max_seconds);
	char seconds[24], bytes[24];

	snprintf(bytes, sizeof(bytes), "%" PRIu64,
	         least(DEBUGINFOD_MAXSIZE_ENV_VAR, question->max_bytes));
	snprintf(seconds, sizeof(seconds), "%" PRIu64, max_seconds);
	progress.until_ns = clock_mono_ns() + max_seconds * NSEC_PER_SEC;
	if (setenv(DEBUGINFOD_URLS_ENV_VAR, servers, 1) < 0 ||
	    setenv(DEBUGINFOD_CACHE_PATH_ENV_VAR, ".", 1) < 0 ||
	    setenv(DEBUGINFOD_MAXTIME_ENV_VAR, seconds, 1) < 0 ||
	    setenv(DEBUGINFOD_MAXSIZE_ENV_VAR, bytes, 1) < 0 ||
	    setenv(DEBUGINFOD_RETRY_LIMIT_ENV_VAR, "0", 1) < 0)
		return -errno;
	unsetenv(DEBUGINFOD_PROGRESS_ENV_VAR);
	unsetenv(DEBUGINFOD_VERBOSE_ENV_VAR);
	return 0;
}

/* A server need not announce how much it sends. */
static int limit_files(uint64_t bytes)
{
	struct rlimit now;

	if (getrlimit(RLIMIT_FSIZE, &now) < 0)
		return -errno;
	if (bytes < now.rlim_max)
		now.rlim_max = bytes;
	now.rlim_cur = now.rlim_max;
	return setrlimit(RLIMIT_FSIZE, &now) < 0 ? -errno : 0;
}

/* Whether another try may succeed: not when no server has the file, or when it is too large. */
static bool may_come_yet(int fd)
{
	return fd < 0 && fd != -ENOENT && fd != -EFBIG && !is_over();
}

/* Returns a descriptor or a negative errno. */
static int download(const struct library *library, const char *build_id)
{
	debuginfod_client *client = library->begin();
	int fd = -EIO;

	if (!client)
		return -ENOMEM;
	/* Version 0.188 always prints that there is a size limit; standard output is /dev/null. */
	library->set_verbose_fd(client, STDOUT_FILENO);
	library->set_progressfn(client, keep_going);
	/* A length of 0 means that the build ID is text. */
	for (int i = 0; i < MAX_TRIES && may_come_yet(fd); i++) {
		fd = library->find_debuginfo(client, (const unsigned char *)build_id, 0, NULL);
		progress.received += progress.of_try;
		progress.of_try = 0;
	}
	library->end(client);
	return fd;
}

/* If the file system supports it, both files share their blocks. */
static int copy(int from, int into, uint64_t *ret_written)
{
	_cleanup_free_ char *bytes = malloc(COPIED_AT_ONCE);
	uint64_t written = 0;
	ssize_t n;
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	/* An earlier process with the same question may have died before it finished. */
	if (lseek(from, 0, SEEK_SET) < 0 || lseek(into, 0, SEEK_SET) < 0 || ftruncate(into, 0) < 0)
		return -errno;
	do {
		n = copy_file_range(from, NULL, into, NULL, COPIED_AT_ONCE, 0);
		if (n < 0) {
			n = read(from, bytes, COPIED_AT_ONCE);
			err = n < 0 ? -errno : write_all(into, bytes, (size_t)n);
		}
		written += n > 0 ? (uint64_t)n : 0;
	} while (n > 0 && err == 0);
	*ret_written = written;
	return err;
}

static struct fetch_reply fetch(const struct library *library,
                                const struct fetch_question *question, int into)
{
	struct fetch_reply reply = {0};
	_cleanup_close_ int fd = download(library, question->build_id);

	reply.error = fd < 0 ? fd : copy(fd, into, &reply.written);
	reply.received = progress.received;
	if (reply.received < reply.written)
		reply.received = reply.written;
	return reply;
}

/* The servers; NULL: the question is malformed. */
static const char *servers_of(const struct reading *reading)
{
	const struct fetch_question *question =
		(const struct fetch_question *)(const void *)reading->bytes;
	size_t len = sizeof(*question);

	if (reading->len <= len || reading->bytes[reading->len - 1] ||
	    strnlen(question->build_id, sizeof(question->build_id)) == sizeof(question->build_id))
		return NULL;
	return (const char *)reading->bytes + len;
}

int fetch_answer(struct reading *reading, struct buf *out)
{
	const struct fetch_question *question =
		(const struct fetch_question *)(const void *)reading->bytes;
	const char *servers = servers_of(reading);
	struct fetch_reply reply = {0};
	struct library library;
	int err = 0;

	if (!servers || (question->build_id[0] &&
	                 (reading->fds[FETCH_INTO] < 0 || reading->fds[FETCH_ROOM] < 0)))
		return -EPROTO;
	if (question->build_id[0])
		err = room_enter(reading->fds[FETCH_ROOM]);
	if (err == 0)
		err = limit_files(question->max_bytes);
	if (err == 0)
		err = configure(question, servers);
	if (err == 0)
		err = library_load(&library);
	if (err)
		return err;
	if (question->build_id[0]) {
		reply = fetch(&library, question, reading->fds[FETCH_INTO]);
		room_clear(reading->fds[FETCH_ROOM]);
	}
	buf_add(out, &reply, sizeof(reply));
	return buf_error(out);
}
