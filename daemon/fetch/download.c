/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A server may have compromised the process, which holds the file open: so the process is ended
 * before the file is inspected.
 */
#include "fetch/download.h"

#include "base/clock.h"
#include "fetch/wire.h"
#include "object/object.h"
#include "reader/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_PROCESS_BYTES = 256 << 20, /* of memory; each thread's stack counts as 8 MiB */
	NICENESS = 10,                 /* no request waits for a download */
	MAX_SECONDS = 600,             /* of one download: 3.5 MB/s for the largest file */
	PATIENCE_SECONDS = 15,         /* for the process to notice that, and to copy the file */
	MAX_ERROR = 4095,
};

struct downloads {
	struct reader *reader;
	const char *servers;
	int room;
};

struct downloads *downloads_new(const char *program, const char *servers, int room)
{
	const struct reader_program fetcher = {program, "fetch", MAX_PROCESS_BYTES, NICENESS};
	struct downloads *downloads = calloc(1, sizeof(*downloads));

	if (!downloads) {
		close(room);
		return NULL;
	}
	downloads->room = room;
	downloads->servers = servers;
	downloads->reader = reader_new(&fetcher);
	if (!downloads->reader) {
		downloads_free(downloads);
		return NULL;
	}
	reader_let_servers(downloads->reader);
	reader_deadline(downloads->reader, (MAX_SECONDS + PATIENCE_SECONDS) * NSEC_PER_SEC);
	return downloads;
}

void downloads_free(struct downloads *downloads)
{
	if (!downloads)
		return;
	reader_free(downloads->reader);
	closep(&downloads->room);
	free(downloads);
}

void downloads_cancel(struct downloads *downloads)
{
	reader_cancel(downloads->reader);
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	const struct fetch_reply *reply = (const struct fetch_reply *)(const void *)bytes;

	(void)ctx;
	return len == sizeof(*reply) && reply->error <= 0 && reply->error >= -MAX_ERROR ? 0
	                                                                                : -EBADMSG;
}

static int ask(struct downloads *downloads, const struct fetch_question *question, int into,
               struct fetch_reply *ret_reply)
{
	const struct reader_query query = {
		.question = {.job = READER_FETCH,
	                     .fds = {[FETCH_INTO] = into,
	                             [FETCH_ROOM] = downloads->room,
	                             [FETCH_ROOM + 1] = -1},
	                     .pieces = {{question, sizeof(*question)},
	                                {downloads->servers, strlen(downloads->servers) + 1}}},
		.no_file = true,
		.check = check,
	};
	int err = reader_ask_fixed(downloads->reader, &query, ret_reply, sizeof(*ret_reply));

	/* The next download gets a new process. */
	reader_rest(downloads->reader, 0);
	return err;
}

int downloads_try(struct downloads *downloads)
{
	const struct fetch_question question = {.max_seconds = MAX_SECONDS};
	struct fetch_reply reply;

	return ask(downloads, &question, -1, &reply);
}

/* Takes ownership of the descriptor. */
static int verify(int fd, const char *build_id, struct downloaded *download)
{
	_cleanup_(object_unrefp) struct object *object = NULL;

	if (object_open_fd(fd, "", &object) < 0 || strcmp(object->build_id, build_id) != 0 ||
	    object->size > download->max_bytes)
		return -EBADMSG;
	download->written = object->size;
	return 0;
}

/* The library's other errors all mean the same, and must not be confused with the daemon's own. */
static int error_of(const struct fetch_reply *reply)
{
	if (!reply->error || reply->error == -ENOENT || reply->error == -EFBIG)
		return reply->error;
	return -EREMOTEIO;
}

int downloads_run(struct downloads *downloads, const char *build_id, int into,
                  struct downloaded *download)
{
	struct fetch_question question = {.max_bytes = download->max_bytes,
	                                  .max_seconds = MAX_SECONDS};
	struct fetch_reply reply = {0};

	snprintf(question.build_id, sizeof(question.build_id), "%s", build_id);
	int err = ask(downloads, &question, into, &reply);
	download->received = reply.received;
	if (err == 0)
		err = error_of(&reply);
	if (err < 0) {
		close(into);
		return err;
	}
	return verify(into, build_id, download);
}
