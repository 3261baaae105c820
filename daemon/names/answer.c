/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files and the data read from them are kept from one question to the next, in at most half of the
 * memory that the process may use.
 */
#include "names/answer.h"

#include "base/cleanup.h"
#include "names/files.h"
#include "names/wire.h"
#include "reader/jobs.h"
#include "reader/opening.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert((int)FILE_COUNT == (int)READER_FDS, "a descriptor for each");
_Static_assert((int)WIRE_MAX_ANSWER <= (int)READER_MAX_ANSWER, "it can be sent");

struct question {
	uint64_t file;
	bool lines;
	const uint64_t *addresses;
	size_t count;
};

static int read_question(const struct reading *reading, struct question *ret_question)
{
	struct wire_query head;
	struct question question = {.lines = reading->job == READER_NAMES};

	if (reading->len < sizeof(head) || (reading->len - sizeof(head)) % sizeof(uint64_t))
		return -EPROTO;
	memcpy(&head, reading->bytes, sizeof(head));
	question.file = head.file;
	question.addresses = (const uint64_t *)(const void *)(reading->bytes + sizeof(head));
	question.count = (reading->len - sizeof(head)) / sizeof(uint64_t);
	if (!question.count || question.count > WIRE_MAX_ADDRESSES)
		return -EPROTO;
	for (size_t i = 1; i < question.count; i++) {
		if (question.addresses[i] < question.addresses[i - 1])
			return -EPROTO;
	}
	*ret_question = question;
	return 0;
}

/* A file that this file refers to, such as a .dwo file, must satisfy the rule for debug files: its
 * owner is root or the owner of this file. */
static int trust_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	opening_trust(st.st_uid);
	return 0;
}

static int add_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	return wire_frames_add(ctx, index, frame);
}

static int read_frames(struct named_file *file, const struct question *question, struct buf *out)
{
	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();

	if (!frames)
		return -ENOMEM;
	int err = named_file_find(file, question->addresses, question->count, question->lines,
	                          add_frame, frames);
	if (!err)
		err = wire_frames_write(frames, out);
	/* An answer that is too long is treated like a lack of memory. */
	return err == -E2BIG ? -ENOMEM : err;
}

static void forget(void *kept)
{
	names_files_forget(kept);
}

int names_answer(struct reading *reading, struct buf *out)
{
	struct question question;
	struct named_file *file;
	int fds[READER_FDS];
	int err = read_question(reading, &question);

	if (err == 0 && reading->fds[0] >= 0)
		err = trust_owner(reading->fds[0]);
	if (err < 0)
		return err;
	if (!*reading->kept)
		*reading->kept = names_files_new(reading->max_bytes / 2);
	struct names_files *files = *reading->kept;
	if (!files)
		return -ENOMEM;
	reading->forget = forget;
	for (int i = 0; i < READER_FDS; i++)
		fds[i] = TAKE_FD(reading->fds[i]);
	err = names_files_get(files, question.file, fds, &file);
	if (err < 0)
		return err;
	err = read_frames(file, &question, out);
	/* Memory may be short only because of data that is kept of other files. */
	if (err == -ENOMEM && names_files_keep_only(files, question.file)) {
		buf_release(out);
		err = read_frames(file, &question, out);
	}
	return err;
}
