/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Most files have none, so an answer holds the probes by a pointer.
 */
#include "probes/usdt_files.h"

#include "object/file_answers.h"
#include "probes/usdt_ask.h"

#include <errno.h>

struct entry {
	struct file_answer answer; /* first */
	struct usdt_file *file;    /* NULL: it has none */
};

struct usdt_files {
	struct file_answers *answers;
	usdt_found_fn *fn;
	void *ctx;
};

static int ask(struct reader *reader, struct file_answer *answer)
{
	_cleanup_free_ struct usdt_file *file = calloc(1, sizeof(*file));
	int err = file ? usdt_ask(reader, answer->object->fd, answer->id, file) : -ENOMEM;

	if (!err)
		((struct entry *)answer)->file = TAKE_PTR(file);
	return err;
}

static bool answered(struct file_answer *answer, void *ctx)
{
	const struct usdt_files *files = ctx;

	if (((struct entry *)answer)->file)
		files->fn(files->ctx);
	return false;
}

static void on_room(void *ctx)
{
	const struct usdt_files *files = ctx;

	files->fn(files->ctx);
}

static void release(struct file_answer *answer, void *ctx)
{
	(void)ctx;
	free(((struct entry *)answer)->file);
}

static const struct file_question what_probes = {
	.answer_bytes = sizeof(struct entry),
	.ask = ask,
	.answered = answered,
	.room = on_room,
	.release = release,
};

struct usdt_files *usdt_files_new(struct lane *lane, struct reader *reader, struct store *store,
                                  usdt_found_fn *fn, void *ctx)
{
	_cleanup_(usdt_files_freep) struct usdt_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->fn = fn;
	files->ctx = ctx;
	files->answers = file_answers_new(&what_probes, lane, reader, store, files);
	return files->answers ? TAKE_PTR(files) : NULL;
}

void usdt_files_free(struct usdt_files *files)
{
	if (!files)
		return;
	file_answers_free(files->answers);
	free(files);
}

const struct usdt_file *usdt_files_get(struct usdt_files *files, uint32_t id, bool *ret_pending)
{
	const struct file_answer *answer = file_answers_get(files->answers, id);

	*ret_pending = !answer || answer->is_pending;
	return *ret_pending ? NULL : ((const struct entry *)answer)->file;
}

uint64_t usdt_files_put_off(const struct usdt_files *files)
{
	return file_answers_put_off(files->answers);
}
