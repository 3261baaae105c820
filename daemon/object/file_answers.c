/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by object id.
 */
#include "object/file_answers.h"

#include "base/bounds.h"

#include <errno.h>

enum { MAX_ANSWERS = 2 * MAX_OBJECTS };

struct file_answers {
	const struct file_question *question;
	struct lane *lane;
	struct reader *reader;
	struct store *store;
	void *ctx;
	struct file_answer *by_id;
	size_t pending;
};

static void ask(struct job *job);

static uint64_t user_of(const struct job *job)
{
	const struct file_answer *answer = (const struct file_answer *)job;

	return job->run == ask ? LANE_USER(answer->object->user) : 0;
}

struct file_answers *file_answers_new(const struct file_question *question, struct lane *lane,
                                      struct reader *reader, struct store *store, void *ctx)
{
	struct file_answers *answers = calloc(1, sizeof(*answers));

	if (!answers)
		return NULL;
	*answers = (struct file_answers){question, lane, reader, store, ctx, NULL, 0};
	lane_take_turns(lane, user_of);
	return answers;
}

static void drop(struct file_answers *answers, struct file_answer *answer)
{
	HASH_DEL(answers->by_id, answer);
	if (answers->question->release)
		answers->question->release(answer, answers->ctx);
	object_unref(answer->object);
	free(answer);
}

void file_answers_free(struct file_answers *answers)
{
	struct file_answer *answer, *next;

	if (!answers)
		return;
	HASH_ITER (hh, answers->by_id, answer, next)
		drop(answers, answer);
	free(answers);
}

static void ask(struct job *job)
{
	struct file_answer *answer = (struct file_answer *)job;
	struct reader *reader = answer->answers->reader;

	/* Other jobs on the lane use the reader, too. */
	reader_of_user(reader, reader_user(answer->object->user, answer->object->owner));
	reader_hurry(reader, answer->is_late ? 0 : READER_FIRST_NS);
	answer->error = answer->answers->question->ask(reader, answer);
	reader_hurry(reader, 0);
	reader_of_user(reader, 0);
}

/* Whether the error says nothing about the file. */
static bool may_pass(int error)
{
	return error == -ECHILD || error == -ECANCELED || error == -ENOMEM || error == -ETIMEDOUT;
}

static bool ask_again(struct file_answer *answer)
{
	if (answer->error != -ETIMEDOUT || answer->is_late)
		return false;
	answer->is_late = true;
	answer->error = -ECANCELED;
	return lane_submit(answer->answers->lane, &answer->job) == 0;
}

static void asked(struct job *job)
{
	struct file_answer *answer = (struct file_answer *)job;
	struct file_answers *answers = answer->answers;

	if (ask_again(answer))
		return;
	answers->pending--;
	if (may_pass(answer->error)) {
		drop(answers, answer);
	} else {
		if (!answers->question->answered(answer, answers->ctx)) {
			object_unref(answer->object);
			answer->object = NULL;
		}
		answer->is_pending = false;
	}
	if (!answers->pending && answers->question->idle)
		answers->question->idle(answers->ctx);
}

static void forget_closed(struct file_answers *answers)
{
	const struct file_question *question = answers->question;
	struct file_answer *answer, *next;

	HASH_ITER (hh, answers->by_id, answer, next) {
		bool is_held = question->is_held && question->is_held(answer);

		if (!answer->is_pending && !is_held && !store_has(answers->store, answer->id))
			drop(answers, answer);
	}
}

static struct file_answer *add(struct file_answers *answers, uint32_t id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(answers->store, id);
	struct file_answer *answer;

	if (!object)
		return NULL;
	if (HASH_COUNT(answers->by_id) >= MAX_ANSWERS)
		forget_closed(answers);
	if (HASH_COUNT(answers->by_id) >= MAX_ANSWERS)
		return NULL;
	answer = calloc(1, answers->question->answer_bytes);
	if (!answer)
		return NULL;
	answer->job = (struct job){ask, asked, NULL};
	answer->answers = answers;
	answer->id = id;
	answer->is_pending = true;
	answer->error = -ECANCELED; /* stays when the job is not run */
	HASH_ADD(hh, answers->by_id, id, sizeof(answer->id), answer);
	if (!answer->hh.tbl) {
		free(answer);
		return NULL;
	}
	answer->object = TAKE_PTR(object);
	if (lane_submit(answers->lane, &answer->job) < 0) {
		drop(answers, answer);
		return NULL;
	}
	answers->pending++;
	return answer;
}

struct file_answer *file_answers_get(struct file_answers *answers, uint32_t id)
{
	struct file_answer *answer;

	HASH_FIND(hh, answers->by_id, &id, sizeof(id), answer);
	return answer ? answer : add(answers, id);
}
