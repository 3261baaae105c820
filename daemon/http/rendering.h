/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct rendering - the last part of every request that is answered with a profile: its plan is
 * rendered on the render lane, and the parked request answered with what comes out, as a file with
 * a name where the format is one. Requests that ask for the same at the same time, of which there
 * may be hundreds, are answered with one rendering. Part of its owner, who keeps all that the plan
 * points to until done(). Loop thread only.
 */
#pragma once

#include "http/render.h"
#include "http/request.h"

struct rendering {
	struct request *request; /* NULL once nobody waits for it */
	const struct service *service;
	const char *kind; /* in the file's name: profd-HOST-KIND.pb.gz */
	struct buf key;   /* the same where what comes out is; empty: nowhere else; freed here */
	struct render_plan plan; /* without symbolizer and host, which the service has,
	                            and the viewer */
	void (*done)(
		struct rendering *rendering); /* the request is answered, if there still was one */

	/* Its own. */
	struct turn turn;
	struct buf body;
	char incomplete[RENDER_LINE_BYTES];
	int error;
	struct parking *parking;
	struct rendering *next;      /* of those of other keys, or of those that wait for one */
	struct rendering *followers; /* are answered with what comes out here */
};

/* -EAGAIN: the lane is full; done() will not be called and the request is still the owner's. The
 * key is freed in any case. */
int rendering_start(struct rendering *rendering);
