/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct rendering - the last part of every request that is answered with a profile: the plan is
 * rendered on the render lane, and the suspended request is answered with the result, as a named
 * file where the format is a file. Requests for the same profile at the same time, of which there
 * may be hundreds, are answered with one rendering, as soon as a rendering for any of them alone
 * would be. Embedded in its owner, which keeps all that the plan points to until done(). Loop
 * thread only.
 */
#pragma once

#include "capture/render.h"
#include "http/request.h"

struct rendering {
	struct request *request; /* NULL once the request is abandoned */
	const struct service *service;
	const char *kind; /* in the file's name: profd-HOST-KIND.pb.gz */
	struct buf key;   /* equal keys mean equal results; empty: equal to no other; freed here */
	/* Without symbolizer, host and viewer, which rendering_start() sets. */
	struct render_plan plan;
	/* Called after the request was answered, or abandoned. */
	void (*done)(struct rendering *rendering);

	/* Private. */
	uint64_t account; /* of the request; the turn may be that of a follower's account */
	struct turn turn;
	struct buf body;
	char incomplete[RENDER_LINE_BYTES];
	int error;
	struct parking *parking;
	/* In the list of renderings with other keys, or in that of followers. */
	struct rendering *next;
	struct rendering *followers; /* are answered with this result */
	struct rendering *leader;    /* of a follower */
};

/* On an error, such as -EAGAIN because the lane is full, done() is not called and the owner must
 * still answer the request. The key is freed in any case. */
int rendering_start(struct rendering *rendering);
/* The request is gone. done() is called at once, unless others wait for the result, or a worker has
 * it: then later. */
void rendering_abandon(struct rendering *rendering);
