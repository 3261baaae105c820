/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A call is used again for the next process, unless it was left behind.
 */
#include "views/process_cmdline.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "http/json.h"
#include "proc/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* On a busy host the thread aside may not get to run for this long. */
static const uint64_t patience_ns = 500 * NSEC_PER_MSEC;
static const char cut_mark[] = " [...]";

struct cmdline_call {
	struct aside_call call;
	size_t max, len;
	char bytes[MAX_CMDLINE_BYTES + sizeof(cut_mark)];
};

/* Reads the first `max` bytes, and one more if there are more. On the thread aside. */
static void read_cmdline(struct aside_call *aside_call)
{
	struct cmdline_call *call = (struct cmdline_call *)aside_call;
	_cleanup_close_ int fd = -1;
	ssize_t len;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", call->call.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, call->bytes, call->max + 1);
	call->len = len > 0 ? (size_t)len : 0;
}

static void free_call(struct aside_call *call)
{
	free(call);
}

/* NULs separate words; a program that replaced its command line by a title leaves many at the end.
 */
static json_t *call_json(struct cmdline_call *call)
{
	bool cut = call->len > call->max;
	size_t len = cut ? call->max : call->len;

	while (len && !call->bytes[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (!call->bytes[i])
			call->bytes[i] = ' ';
	if (cut) {
		memcpy(call->bytes + len, cut_mark, strlen(cut_mark));
		len += strlen(cut_mark);
	}
	return json_text(call->bytes, len);
}

json_t *cmdline_read(struct cmdline_reader *reader, uint32_t pid, size_t max)
{
	struct cmdline_call *call = reader->spare ?: calloc(1, sizeof(*call));
	int err;

	if (!call)
		return NULL;
	reader->spare = NULL;
	call->call = (struct aside_call){
		.owner = owner_read(pid), .pid = pid, .run = read_cmdline, .free = free_call};
	call->max = max;
	err = aside_run(reader->aside, &call->call, patience_ns);
	if (err == -ETIMEDOUT)
		return json_null();
	reader->spare = call;
	return err ? json_null() : call_json(call);
}

void cmdline_reader_release(struct cmdline_reader *reader)
{
	free(reader->spare);
	reader->spare = NULL;
}
