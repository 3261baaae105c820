/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct answer - the bytes of one answer, sent to one client or to several that asked for the same
 * at the same time; they are freed when the last has them. struct answers counts what all of them
 * take and who has them, so that clients that read slowly cannot make profd hold more than it may,
 * and leave room for others. An account is client_account()'s; 0, root's, may have all that is
 * left, and an eighth is kept for it. Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "base/shares.h"

#include <microhttpd.h>

/* Small ones are counted apart, up to an eighth of the others, so that what watches profd is
 * answered still. */
struct answers {
	struct shares large, small;
};

struct answer;

/* The largest answer that this account may have, if it has nothing else, where all together may
 * have `max_bytes`. */
size_t answers_largest(uint64_t account, size_t max_bytes);
/* Whether there is room for so many bytes more of this account. */
bool answers_have_room(struct answers *answers, uint64_t account, size_t len, size_t max_bytes);

/* Takes the body over, on failure too. -EFBIG: it alone takes more than the account may have;
 * -ENOBUFS: with it, those that are being sent would; -ENOMEM, or the body's own error. */
int answer_new(struct answers *answers, struct buf *body, uint64_t account, size_t max_bytes,
               struct answer **ret_answer);
void answer_unref(struct answer *answer); /* takes NULL */
DEFINE_CLEANUP(struct answer *, answer_unref)

size_t answer_size(const struct answer *answer);
/* Whether this account may have it too: it has it already, or could have made it. */
bool answer_is_for(const struct answer *answer, uint64_t account, size_t max_bytes);
/* Has a reference of its own for as long as it is there. Whoever made the answer has it in his
 * share until he has read it; then one of those who still read it has. NULL when out of memory. */
struct MHD_Response *answer_response(struct answer *answer, uint64_t account);
