/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Renders profiles and answers their requests.
 */
#include "api/rendering.h"

#include "base/clean.h"
#include "http/admission.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct rendering *rendering_of(struct job *job)
{
	return (struct rendering *)((char *)job - offsetof(struct rendering, turn.job));
}

/* Worker thread. */
static void run_render(struct job *job)
{
	struct rendering *rendering = rendering_of(job);

	rendering->error =
		render_profile(&rendering->plan, &rendering->body, rendering->incomplete);
	if (!rendering->error)
		rendering->error = buf_error(&rendering->body);
}

/* For clients that read neither the comments nor the first line of a text. */
static void say_incomplete(struct request *request, const char *why)
{
	char line[RENDER_LINE_BYTES];

	if (!why[0])
		return;
	snprintf(line, sizeof(line), "%s", why);
	clean_text(line);
	request_header(request, "X-Profd-Incomplete", line);
}

static void answer(struct rendering *rendering, struct answer *answer, const char *incomplete)
{
	const struct encoder *encoder = rendering->plan.encoder;
	struct request *request = rendering->request;
	char disposition[160];

	request_answer_shared(request, encoder->content_type, answer);
	say_incomplete(request, incomplete);
	if (encoder->suffix[0]) {
		snprintf(disposition, sizeof(disposition),
		         "attachment; filename=\"profd-%.64s-%.16s%.16s\"",
		         rendering->service->host->nodename, rendering->kind, encoder->suffix);
		request_header(request, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
	}
}

/* Rendering takes memory in many small pieces, which the allocator would keep for later. */
static void give_memory_back(const struct lane *render)
{
	if (!lane_length(render))
		malloc_trim(0);
}

static void fail(const struct rendering *rendering, int err)
{
	const struct selection *selection = rendering->plan.selection;
	struct refusal refusal;

	if (err != -ESRCH || !selection->comm_count) {
		request_fail(rendering->request, err);
		return;
	}
	refuse(&refusal, MHD_HTTP_NOT_FOUND,
	       "no process or thread is called %.64s%s, and none was sampled in this time; GET "
	       "/processes lists the running ones",
	       selection->comms[0], selection->comm_count > 1 ? " or another given name" : "");
	request_refuse(rendering->request, &refusal);
}

static void end(struct rendering *rendering)
{
	buf_release(&rendering->key);
	rendering->done(rendering);
}

/* Answers the request, if it still exists, and calls done(), which may free the rendering. */
static void finish(struct rendering *rendering, const struct rendering *leader,
                   struct answer *shared, int err)
{
	if (!err &&
	    !answer_is_for(shared, rendering->account, rendering->service->policy->answer_bytes))
		err = -ENOBUFS;
	if (rendering->request && err)
		fail(rendering, err);
	else if (rendering->request)
		answer(rendering, shared, leader->incomplete);
	end(rendering);
}

static void unlink_rendering(struct rendering *rendering)
{
	struct rendering **link =
		rendering->leader ? &rendering->leader->followers : &rendering->parking->renderings;

	while (*link != rendering)
		link = &(*link)->next;
	*link = rendering->next;
}

/* The account that is charged for the answer: that of the first request, unless it has no room,
 * else that of a follower that has. Otherwise the first account's lack of room would refuse the
 * others. */
static uint64_t payer_of(const struct rendering *leader)
{
	const struct rendering *rendering = leader;
	struct answers *answers = &leader->parking->answers;

	while (rendering && !answers_have_room(answers, rendering->account, leader->body.len,
	                                       leader->service->policy->answer_bytes))
		rendering = rendering == leader ? leader->followers : rendering->next;
	return rendering ? rendering->account : leader->account;
}

static void on_rendered(struct job *job)
{
	struct rendering *rendering = rendering_of(job), *follower = rendering->followers;
	const struct service *service = rendering->service;
	_cleanup_(answer_unrefp) struct answer *shared = NULL;
	int err = rendering->error;

	unlink_rendering(rendering);
	if (err)
		buf_release(&rendering->body);
	else
		err = answer_new(&rendering->parking->answers, &rendering->body,
		                 payer_of(rendering), service->policy->answer_bytes, &shared);
	while (follower) {
		struct rendering *next = follower->next;

		finish(follower, rendering, shared, err);
		follower = next;
	}
	/* The followers' answers use its members, so it is finished last. */
	finish(rendering, rendering, shared, err);
	give_memory_back(service->render);
}

static struct rendering *find_equal(const struct rendering *rendering)
{
	const struct buf *key = &rendering->key;
	struct rendering *other = rendering->parking->renderings;

	for (; other && key->len; other = other->next)
		if (other->key.len == key->len && !memcmp(other->key.data, key->data, key->len))
			return other;
	return NULL;
}

/* The leader's account may have a long queue of its own, and its client may be gone. */
static void follow(struct rendering *rendering, struct rendering *leader)
{
	lane_hasten_turn(leader->service->render, &leader->turn, rendering->account);
	rendering->leader = leader;
	rendering->next = leader->followers;
	leader->followers = rendering;
	rendering->parking->stats.answers_shared++;
}

/* Root may have larger answers than other users, who all have the same limit, so root's renderings
 * have keys of their own. */
static void set_max(struct rendering *rendering)
{
	bool root = !rendering->account;

	rendering->body.max = request_answer_max(rendering->request);
	if (rendering->key.len)
		buf_add(&rendering->key, &root, sizeof(root));
}

/* Viewers may see different source files, so a table by line is shared only by requests with the
 * same viewer. */
static void set_viewer(struct rendering *rendering)
{
	uint32_t viewer = admit_viewer(rendering->request);

	rendering->plan.viewer = viewer;
	if (rendering->key.len && rendering->plan.options.by == BY_line)
		buf_add(&rendering->key, &viewer, sizeof(viewer));
}

int rendering_start(struct rendering *rendering)
{
	const struct service *service = rendering->service;
	struct rendering *leader;
	int err;

	rendering->plan.symbolizer = service->symbolizer;
	rendering->plan.host = service->host;
	set_viewer(rendering);
	rendering->error = -ECANCELED;
	rendering->turn.job = (struct job){.run = run_render, .done = on_rendered};
	rendering->account = client_account(rendering->request->client);
	rendering->turn.account = rendering->account;
	set_max(rendering);
	rendering->parking = rendering->request->parking;
	leader = buf_error(&rendering->key) ? NULL : find_equal(rendering);
	if (leader) {
		follow(rendering, leader);
		return 0;
	}
	err = lane_submit_turn(service->render, &rendering->turn);
	if (err) {
		buf_release(&rendering->key);
		return err;
	}
	rendering->next = rendering->parking->renderings;
	rendering->parking->renderings = rendering;
	return 0;
}

void rendering_abandon(struct rendering *rendering)
{
	struct rendering *leader = rendering->leader ?: rendering;

	rendering->request = NULL;
	if (rendering != leader) {
		unlink_rendering(rendering);
		end(rendering);
	}
	if (leader->request || leader->followers ||
	    !lane_cancel_turn(leader->service->render, &leader->turn))
		return;
	unlink_rendering(leader);
	end(leader);
}
