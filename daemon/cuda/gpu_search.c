/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Nearly every file has no library. The reader process ends when there is nothing to ask.
 */
#include "cuda/gpu_search.h"

#include "cuda/gpu_ask.h"
#include "object/file_answers.h"

#include <errno.h>

struct entry {
	struct file_answer answer; /* first */
	uint32_t libraries;
};

struct gpu_search {
	struct job rest; /* first */
	bool rests;      /* that job is under way */
	struct file_answers *answers;
	struct lane *lane;
	struct reader *reader; /* the lane's */
	gpu_found_fn *fn;
	void *ctx;
};

/* The reader process holds memory, and the next question may be a long time off. */
static void rest(struct job *job)
{
	reader_rest(((struct gpu_search *)job)->reader, 0);
}

static void rested(struct job *job)
{
	((struct gpu_search *)job)->rests = false;
}

static void on_idle(void *ctx)
{
	struct gpu_search *search = ctx;

	if (!search->rests)
		search->rests = lane_submit(search->lane, &search->rest) == 0;
}

static int ask(struct reader *reader, struct file_answer *answer)
{
	_cleanup_free_ struct gpu_file *file = malloc(sizeof(*file));
	int err = file ? gpu_ask(reader, answer->object->fd, answer->id,
	                         GPU_LIBRARY_RUNTIME | GPU_LIBRARIES_TENSOR, file)
	               : -ENOMEM;

	if (!err)
		((struct entry *)answer)->libraries = file->libraries;
	return err;
}

static bool answered(struct file_answer *answer, void *ctx)
{
	const struct gpu_search *search = ctx;

	if (((struct entry *)answer)->libraries)
		search->fn(search->ctx);
	return false;
}

static void on_room(void *ctx)
{
	const struct gpu_search *search = ctx;

	search->fn(search->ctx);
}

static const struct file_question what_libraries = {
	.answer_bytes = sizeof(struct entry),
	.ask = ask,
	.answered = answered,
	.idle = on_idle,
	.room = on_room,
};

struct gpu_search *gpu_search_new(struct lane *lane, struct reader *reader, struct store *store,
                                  gpu_found_fn *fn, void *ctx)
{
	_cleanup_free_ struct gpu_search *search = calloc(1, sizeof(*search));

	if (!search)
		return NULL;
	search->rest = (struct job){rest, rested, NULL};
	search->lane = lane;
	search->reader = reader;
	search->fn = fn;
	search->ctx = ctx;
	search->answers = file_answers_new(&what_libraries, lane, reader, store, search);
	return search->answers ? TAKE_PTR(search) : NULL;
}

void gpu_search_free(struct gpu_search *search)
{
	if (!search)
		return;
	file_answers_free(search->answers);
	free(search);
}

uint32_t gpu_search_get(struct gpu_search *search, uint32_t id, bool *ret_pending)
{
	const struct file_answer *answer = file_answers_get(search->answers, id);

	*ret_pending = !answer || answer->is_pending;
	return *ret_pending ? 0 : ((const struct entry *)answer)->libraries;
}

uint64_t gpu_search_put_off(const struct gpu_search *search)
{
	return file_answers_put_off(search->answers);
}
