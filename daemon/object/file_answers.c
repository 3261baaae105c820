/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by object id.
 */
#include "object/file_answers.h"

#include "base/clock.h"
#include "base/shares.h"

#include <errno.h>

enum { ANSWERS_PER_OBJECT = 2 };

/* All answers are gone through to find those of closed objects, so not for each one that there is
 * no room for. */
static const uint64_t forget_ns = NSEC_PER_SEC;
/* A user with many files keeps the table full, and everybody looks at all files of a process that
 * waits. */
static const uint64_t room_ns = 5 * NSEC_PER_SEC;

struct file_answers {
	const struct file_question *question;
	struct lane *lane;
	struct reader *reader;
	struct store *store;
	void *ctx;
	struct file_answer *by_id;
	struct shares shares; /* by user */
	size_t pending;
	bool refused; /* since room() was called */
	uint64_t put_off, forgot_ns, room_ns;
};

static void ask(struct job *job);

static uint64_t user_of(const struct job *job)
{
	const struct file_answer *answer = (const struct file_answer *)job;

	return job->run == ask ? LANE_USER(answer->user) : 0;
}

struct file_answers *file_answers_new(const struct file_question *question, struct lane *lane,
                                      struct reader *reader, struct store *store, void *ctx)
{
	struct file_answers *answers = calloc(1, sizeof(*answers));

	if (!answers)
		return NULL;
	*answers = (struct file_answers){
		.question = question,
		.lane = lane,
		.reader = reader,
		.store = store,
		.ctx = ctx,
		.shares.whole = ANSWERS_PER_OBJECT * store_max_objects(store),
	};
	lane_take_turns(lane, user_of);
	return answers;
}

static void drop(struct file_answers *answers, struct file_answer *answer)
{
	HASH_DEL(answers->by_id, answer);
	shares_give(&answers->shares, answer->user, 1);
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
	shares_clear(&answers->shares);
	free(answers);
}

static void ask(struct job *job)
{
	struct file_answer *answer = (struct file_answer *)job;
	struct reader *reader = answer->answers->reader;

	answer->object = store_get(answer->answers->store, answer->id);
	if (!answer->object) {
		answer->error = -ESTALE;
		return;
	}
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
	return error == -ECHILD || error == -ECANCELED || error == -ENOMEM || error == -ETIMEDOUT ||
	       error == -ESTALE;
}

static void close_object(struct file_answer *answer)
{
	object_unref(answer->object);
	answer->object = NULL;
}

static bool ask_again(struct file_answer *answer)
{
	if (answer->error != -ETIMEDOUT || answer->is_late)
		return false;
	answer->is_late = true;
	answer->error = -ECANCELED;
	close_object(answer);
	return lane_submit(answer->answers->lane, &answer->job) == 0;
}

static void tell_of_room(struct file_answers *answers)
{
	uint64_t now_ns;

	if (!answers->refused || !answers->question->room)
		return;
	now_ns = clock_mono_ns();
	if (answers->pending && now_ns - answers->room_ns < room_ns)
		return;
	answers->room_ns = now_ns;
	answers->refused = false;
	answers->question->room(answers->ctx);
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
		if (!answers->question->answered(answer, answers->ctx))
			close_object(answer);
		answer->is_pending = false;
	}
	tell_of_room(answers);
	if (!answers->pending && answers->question->idle)
		answers->question->idle(answers->ctx);
}

static void forget_closed(struct file_answers *answers)
{
	const struct file_question *question = answers->question;
	struct file_answer *answer, *next;
	uint64_t now_ns = clock_mono_ns();

	if (now_ns - answers->forgot_ns < forget_ns)
		return;
	answers->forgot_ns = now_ns;
	HASH_ITER (hh, answers->by_id, answer, next) {
		bool is_held = question->is_held && question->is_held(answer);

		if (!answer->is_pending && !is_held && !store_has(answers->store, answer->id))
			drop(answers, answer);
	}
}

/* Charges one answer to the user. */
static bool make_room(struct file_answers *answers, uint32_t user)
{
	if (shares_take_beside_root(&answers->shares, user, 1))
		return true;
	forget_closed(answers);
	return shares_take_beside_root(&answers->shares, user, 1);
}

static struct file_answer *put_off(struct file_answers *answers)
{
	answers->put_off++;
	answers->refused = true;
	return NULL;
}

static struct file_answer *answer_new(struct file_answers *answers, uint32_t id, uint32_t user)
{
	struct file_answer *answer = calloc(1, answers->question->answer_bytes);

	if (!answer)
		return NULL;
	answer->job = (struct job){ask, asked, NULL};
	answer->answers = answers;
	answer->id = id;
	answer->user = user;
	answer->is_pending = true;
	answer->error = -ECANCELED; /* stays when the job is not run */
	HASH_ADD(hh, answers->by_id, id, sizeof(answer->id), answer);
	if (answer->hh.tbl)
		return answer;
	free(answer);
	return NULL;
}

static struct file_answer *add(struct file_answers *answers, uint32_t id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(answers->store, id);
	struct file_answer *answer;

	if (!object)
		return NULL;
	if (!make_room(answers, object->user))
		return put_off(answers);
	answer = answer_new(answers, id, object->user);
	if (!answer) {
		shares_give(&answers->shares, object->user, 1);
		return put_off(answers);
	}
	if (lane_submit(answers->lane, &answer->job) < 0) {
		drop(answers, answer);
		return put_off(answers);
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

uint64_t file_answers_put_off(const struct file_answers *answers)
{
	return answers->put_off;
}
