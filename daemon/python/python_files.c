/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files with CPython are held open, because a process that maps one may fork after the store has
 * closed it.
 */
#include "python/python_files.h"

#include "base/bounds.h"
#include "base/lane.h"
#include "base/log.h"
#include "python/python_ask.h"
#include "object/file_answers.h"

#include <errno.h>
#include <string.h>

struct entry {
	struct file_answer answer; /* first */
	struct python_file file;
};

struct python_files {
	struct file_answers *answers;
	struct lane *lane;
	struct reader *reader; /* used by the lane's thread */
	python_found_fn *fn;
	void *ctx;
	size_t found;
	uint64_t failed;
};

static int ask(struct reader *reader, struct file_answer *answer)
{
	return python_ask(reader, answer->object, &((struct entry *)answer)->file.contents);
}

static bool answered(struct file_answer *answer, void *ctx)
{
	struct python_files *files = ctx;
	struct entry *entry = (struct entry *)answer;

	if (!answer->error && entry->file.contents.process.version) {
		entry->file.object = answer->object;
		files->found++;
		files->fn(files->ctx);
		return true;
	}
	if (answer->error && answer->error != -ENOENT) {
		log_debug("%s: cannot read its CPython: %s", answer->object->path,
		          strerror(-answer->error));
		files->failed++;
	}
	return false;
}

static void on_room(void *ctx)
{
	const struct python_files *files = ctx;

	files->fn(files->ctx);
}

static bool is_held(const struct file_answer *answer)
{
	return ((const struct entry *)answer)->file.holders != 0;
}

static void release(struct file_answer *answer, void *ctx)
{
	struct python_files *files = ctx;

	files->found -= ((struct entry *)answer)->file.object != NULL;
}

static const struct file_question is_python = {
	.answer_bytes = sizeof(struct entry),
	.ask = ask,
	.answered = answered,
	.room = on_room,
	.is_held = is_held,
	.release = release,
};

struct python_files *python_files_new(uv_loop_t *loop, struct store *store, python_found_fn *fn,
                                      void *ctx)
{
	_cleanup_(python_files_freep) struct python_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->fn = fn;
	files->ctx = ctx;
	files->lane = lane_new(loop, WORK_python_files, 2 * MAX_OBJECTS);
	files->reader = reader_new(
		&(struct reader_program){READER_SELF, "python", MAX_PYTHON_READER_BYTES, 0});
	if (!files->lane || !files->reader)
		return NULL;
	files->answers = file_answers_new(&is_python, files->lane, files->reader, store, files);
	return files->answers ? TAKE_PTR(files) : NULL;
}

void python_files_stop(struct python_files *files)
{
	lane_stop(files->lane);
	reader_cancel(files->reader);
}

void python_files_free(struct python_files *files)
{
	if (!files)
		return;
	file_answers_free(files->answers);
	lane_free(files->lane);
	reader_free(files->reader);
	free(files);
}

struct python_file *python_files_get(struct python_files *files, uint32_t id, bool *ret_pending)
{
	struct file_answer *answer = file_answers_get(files->answers, id);
	struct entry *entry = (struct entry *)answer;

	/* The file is there already while the function that is told of it runs. */
	*ret_pending = !answer || (answer->is_pending && !entry->file.object);
	return entry && entry->file.object ? &entry->file : NULL;
}

const struct python_asyncio *python_files_asyncio(struct python_files *files, uint32_t id,
                                                  bool *ret_pending)
{
	struct file_answer *answer = file_answers_get(files->answers, id);
	const struct entry *entry = (const struct entry *)answer;

	*ret_pending = !answer || answer->is_pending;
	return !*ret_pending && !answer->error && entry->file.contents.asyncio.task_node
	               ? &entry->file.contents.asyncio
	               : NULL;
}

void python_file_hold(struct python_file **held, struct python_file *file)
{
	if (file)
		file->holders++;
	if (*held)
		(*held)->holders--;
	*held = file;
}

size_t python_files_count(const struct python_files *files)
{
	return files->found;
}

uint64_t python_files_failed(const struct python_files *files)
{
	return files->failed;
}

uint64_t python_files_put_off(const struct python_files *files)
{
	return file_answers_put_off(files->answers);
}

void python_files_add_reader_stats(const struct python_files *files, struct reader_stats *stats)
{
	reader_add_stats(files->reader, stats);
}
