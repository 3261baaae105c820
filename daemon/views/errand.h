/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct errand - a request whose answer is not a profile and takes too long to make on the loop
 * thread: the request is suspended while run() makes the body on a lane, and is answered with that
 * body. Embedded in its owner, which fills in the first members. Loop thread, except run().
 */
#pragma once

#include "http/request.h"

struct errand {
	const char *content_type;
	struct lane *lane; /* NULL: the render lane */
	/* Collects the daemon's data for run(), after the request is counted and the lane has room
	 * for it; its time is the client's (http/loop_time.h), whose account is turn.account. NULL:
	 * nothing to collect. Errors as of run(). */
	int (*gather)(struct errand *errand, const struct service *service);
	/* Worker thread: appends to `body`. 0, -EINVAL with `refusal`, or another negative errno.
	 */
	int (*run)(struct errand *errand);
	/* Frees the owner, after the request is answered or gone. Called once in every case. */
	void (*free)(struct errand *errand);
	struct buf body; /* at most answer-memory; run() fails with -EFBIG beyond that */
	struct refusal refusal;

	/* Private, but for what is said above. */
	struct turn turn;
	struct request *request; /* NULL once the request is abandoned */
	int error;
};

/* Takes ownership of the errand. The request is answered on failure, too. */
void errand_start(struct errand *errand, struct request *request);
/* The same in two steps, for callers that must find something out in between: the caller owns the
 * errand until it submits it. On a negative errno the request is answered and the errand freed. */
int errand_park(struct errand *errand, struct request *request);
void errand_submit(struct errand *errand);
