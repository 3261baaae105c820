/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct errand - a request whose answer takes too long for the loop thread, and is not a profile:
 * the request is parked while run() makes the body on a lane, and answered with it. Part
 * of its owner, who fills in the first members. Loop thread, but for run().
 */
#pragma once

#include "http/request.h"

struct errand {
	const char *content_type;
	struct lane *lane; /* NULL: the render lane */
	/* What run() needs of the daemon, gathered once the request is counted and the lane has
	 * room for it. NULL: nothing. Errors as of run(). */
	int (*gather)(struct errand *errand, const struct service *service);
	/* Worker thread: appends to `body`. 0, -EINVAL with `refusal`, or another negative errno.
	 */
	int (*run)(struct errand *errand);
	/* The request is answered, or gone: frees the owner. Called once, whatever happens. */
	void (*free)(struct errand *errand);
	struct buf body; /* holds answer-memory at most; then run() fails with -EFBIG */
	struct refusal refusal;

	/* Its own. */
	struct turn turn;
	struct request *request; /* NULL once nobody waits for it */
	int error;
};

/* Takes the errand over; the request is answered also where this fails. */
void errand_start(struct errand *errand, struct request *request);
/* The same in two steps, for what has to be found out in between: the errand is still the caller's
 * until it submits it. A negative errno: the request is answered, and the errand freed. */
int errand_park(struct errand *errand, struct request *request);
void errand_submit(struct errand *errand);
