/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reference counted bytes.
 */
#include "http/answers.h"

#include <errno.h>

enum { SMALL_ANSWER_BYTES = 64 * 1024 }; /* /metrics and /status have some 40 KiB */

struct answer {
	struct answers *answers;
	struct buf body;
	size_t refs;
};

/* The count that an answer of this size is in. */
static size_t *count_of(struct answers *answers, size_t len)
{
	return len <= SMALL_ANSWER_BYTES ? &answers->small_bytes : &answers->bytes;
}

static bool has_room(struct answers *answers, size_t len, size_t max_bytes)
{
	const size_t *count = count_of(answers, len);

	if (count == &answers->small_bytes)
		max_bytes /= 8;
	return *count + len <= max_bytes;
}

int answer_new(struct answers *answers, struct buf *body, size_t max_bytes,
               struct answer **ret_answer)
{
	struct answer *answer = NULL;
	int err = buf_error(body);

	if (!err && body->len > max_bytes)
		err = -EFBIG;
	if (!err && !has_room(answers, body->len, max_bytes))
		err = -ENOBUFS;
	if (!err)
		answer = calloc(1, sizeof(*answer));
	if (!answer) {
		buf_release(body);
		return err ? err : -ENOMEM;
	}
	answer->answers = answers;
	answer->body = *body;
	answer->refs = 1;
	*body = BUF_INIT;
	*count_of(answers, answer->body.len) += answer->body.len;
	*ret_answer = answer;
	return 0;
}

void answer_unref(struct answer *answer)
{
	if (!answer || --answer->refs)
		return;
	*count_of(answer->answers, answer->body.len) -= answer->body.len;
	buf_release(&answer->body);
	free(answer);
}

size_t answer_size(const struct answer *answer)
{
	return answer->body.len;
}

static void on_response_gone(void *answer)
{
	answer_unref(answer);
}

struct MHD_Response *answer_response(struct answer *answer)
{
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		answer->body.len, answer->body.data, on_response_gone, answer);

	if (response)
		answer->refs++;
	return response;
}
