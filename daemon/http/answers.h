/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct answer - the bytes of one answer, sent to one client or to several that requested the same
 * at the same time; freed when the last client has received them. struct answers counts the memory
 * of all answers and the accounts that hold it, so that clients that read slowly cannot make profd
 * exceed its bound, and room is left for others. An account is the result of client_account();
 * account 0, root's, may take all that is left, and an eighth is kept for it. Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "base/shares.h"

#include <microhttpd.h>

/* Small answers are counted separately, up to an eighth of the bound for the others, so that
 * monitoring of profd is still answered when that bound is reached. */
struct answers {
	struct shares large, small;
};

struct answer;

/* The largest answer that this account may have while it holds no other; all answers together may
 * have `max_bytes`. */
size_t answers_largest(uint64_t account, size_t max_bytes);
/* Whether this account may take `len` more bytes. */
bool answers_have_room(struct answers *answers, uint64_t account, size_t len, size_t max_bytes);

/* Takes ownership of the body, on failure too. -EFBIG: the answer alone exceeds what the account
 * may have; -ENOBUFS: together with the answers still being sent it would; -ENOMEM, or the body's
 * own error. */
int answer_new(struct answers *answers, struct buf *body, uint64_t account, size_t max_bytes,
               struct answer **ret_answer);
void answer_unref(struct answer *answer); /* takes NULL */
DEFINE_CLEANUP(struct answer *, answer_unref)

size_t answer_size(const struct answer *answer);
/* Whether the answer may also be sent to this account: the account is charged for it already, or
 * has room for an answer of this size. */
bool answer_is_for(const struct answer *answer, uint64_t account, size_t max_bytes);
/* The response holds a reference of its own. The answer is charged to the account that it was made
 * for until that account's clients have received it, then to the account of a client that is still
 * receiving it. NULL when out of memory. */
struct MHD_Response *answer_response(struct answer *answer, uint64_t account);
