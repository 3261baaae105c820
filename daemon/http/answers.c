/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reference counted bytes.
 */
#include "http/answers.h"

#include <errno.h>
#include <utlist.h>

enum { SMALL_ANSWER_BYTES = 64 * 1024 }; /* /metrics and /status take some 40 KiB */
enum { SMALL_PART = 8 }; /* small answers get this part of the bound, in addition to it */

/* One response that sends the answer. */
struct reader {
	struct answer *answer;
	uint64_t account;
	struct reader *prev, *next;
};

struct answer {
	struct answers *answers;
	struct shares *shares; /* that the answer is charged to */
	struct buf body;
	uint64_t account; /* charged for it */
	bool made;        /* the code that made it holds a reference */
	struct reader *readers;
};

/* A share may be as large as what it leaves: the first account gets half of the whole, less the
 * eighth that is kept for root. */
size_t answers_largest(uint64_t account, size_t max_bytes)
{
	return account ? (max_bytes - max_bytes / 8) / 2 : max_bytes;
}

/* The shares that an answer of this size is charged to; the choice is the same for all accounts. */
static struct shares *shares_for(struct answers *answers, size_t len, size_t max_bytes)
{
	size_t small_bytes = max_bytes / SMALL_PART;

	answers->large.whole = max_bytes;
	answers->small.whole = small_bytes;
	return len <= SMALL_ANSWER_BYTES && len <= answers_largest(1, small_bytes)
	               ? &answers->small
	               : &answers->large;
}

static bool take(struct shares *shares, uint64_t account, size_t len)
{
	return account ? shares_take_beside_root(shares, account, len)
	               : shares_take_left(shares, account, len);
}

bool answers_have_room(struct answers *answers, uint64_t account, size_t len, size_t max_bytes)
{
	struct shares *shares = shares_for(answers, len, max_bytes);

	if (!take(shares, account, len))
		return false;
	shares_give(shares, account, len);
	return true;
}

int answer_new(struct answers *answers, struct buf *body, uint64_t account, size_t max_bytes,
               struct answer **ret_answer)
{
	struct shares *shares = shares_for(answers, body->len, max_bytes);
	struct answer *answer = NULL;
	int err = buf_error(body);

	if (!err && body->len > answers_largest(account, max_bytes))
		err = -EFBIG;
	if (!err && !answers_have_room(answers, account, body->len, max_bytes))
		err = -ENOBUFS;
	if (!err)
		answer = calloc(1, sizeof(*answer));
	if (!answer || !take(shares, account, body->len)) {
		free(answer);
		buf_release(body);
		return err ? err : -ENOMEM;
	}
	answer->answers = answers;
	answer->shares = shares;
	answer->body = *body;
	answer->account = account;
	answer->made = true;
	*body = BUF_INIT;
	*ret_answer = answer;
	return 0;
}

/* Once an account's clients have received the answer, it is no longer charged for it: otherwise
 * others that read slowly would use up its share. */
static void settle(struct answer *answer)
{
	const struct reader *reader = answer->readers;

	while (reader && reader->account != answer->account)
		reader = reader->next;
	if (reader)
		return;
	reader = answer->readers;
	if (shares_move(answer->shares, answer->account, reader->account, answer->body.len))
		answer->account = reader->account;
}

/* Drops a reference that this account held. */
static void drop(struct answer *answer, uint64_t account)
{
	if (!answer->made && !answer->readers) {
		shares_give(answer->shares, answer->account, answer->body.len);
		buf_release(&answer->body);
		free(answer);
	} else if (!answer->made && account == answer->account) {
		settle(answer);
	}
}

void answer_unref(struct answer *answer)
{
	if (!answer)
		return;
	answer->made = false;
	drop(answer, answer->account);
}

size_t answer_size(const struct answer *answer)
{
	return answer->body.len;
}

bool answer_is_for(const struct answer *answer, uint64_t account, size_t max_bytes)
{
	return account == answer->account ||
	       answers_have_room(answer->answers, account, answer->body.len, max_bytes);
}

static void on_response_gone(void *ctx)
{
	struct reader *reader = ctx;
	struct answer *answer = reader->answer;

	DL_DELETE(answer->readers, reader);
	drop(answer, reader->account);
	free(reader);
}

struct MHD_Response *answer_response(struct answer *answer, uint64_t account)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct MHD_Response *response =
		reader ? MHD_create_response_from_buffer_with_free_callback_cls(
				 answer->body.len, answer->body.data, on_response_gone, reader)
		       : NULL;

	if (!response) {
		free(reader);
		return NULL;
	}
	reader->answer = answer;
	reader->account = account;
	DL_PREPEND(answer->readers, reader);
	return response;
}
