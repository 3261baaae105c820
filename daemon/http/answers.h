/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct answer - the bytes of one answer, sent to one client or to several that asked for the same
 * at the same time; they are freed when the last has them. struct answers counts what all of them
 * take, so that clients that read slowly cannot make profd hold more than it may. Loop thread only.
 */
#pragma once

#include "base/buf.h"

#include <microhttpd.h>

struct answers {
	size_t bytes;
	size_t small_bytes; /* of those that are small */
};

struct answer;

/* Takes the body over, on failure too. -EFBIG: it alone takes more than `max_bytes`; -ENOBUFS: with
 * it, those that are being sent would. Small ones are counted apart, up to an eighth of that, so
 * that what watches profd is answered still. -ENOMEM, or the body's own error. */
int answer_new(struct answers *answers, struct buf *body, size_t max_bytes,
               struct answer **ret_answer);
void answer_unref(struct answer *answer); /* takes NULL */
DEFINE_CLEANUP(struct answer *, answer_unref)

size_t answer_size(const struct answer *answer);
/* Has a reference of its own for as long as it is there. NULL when out of memory. */
struct MHD_Response *answer_response(struct answer *answer);
