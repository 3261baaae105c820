/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Renders and answers.
 */
#include "http/rendering.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>

static struct rendering *rendering_of(struct job *job)
{
	return (struct rendering *)((char *)job - offsetof(struct rendering, job));
}

/* Worker thread. */
static void run_render(struct job *job)
{
	struct rendering *rendering = rendering_of(job);

	rendering->error = render_profile(&rendering->plan, &rendering->body);
	if (!rendering->error)
		rendering->error = buf_error(&rendering->body);
}

static void answer(struct rendering *rendering)
{
	const struct encoder *encoder = rendering->plan.format->encoder;
	struct request *request = rendering->request;
	char disposition[160];

	request_answer(request, encoder->content_type, &rendering->body);
	if (encoder->suffix[0]) {
		snprintf(disposition, sizeof(disposition),
		         "attachment; filename=\"profd-%.64s-%.16s%.16s\"",
		         rendering->service->host->nodename, rendering->kind, encoder->suffix);
		request_header(request, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
	}
}

/* Rendering takes memory in many small pieces, which the allocator would keep for the next time. */
static void give_memory_back(const struct lane *render)
{
	if (!lane_length(render))
		malloc_trim(0);
}

static void on_rendered(struct job *job)
{
	struct rendering *rendering = rendering_of(job);
	const struct lane *render = rendering->service->render;

	if (rendering->request && rendering->error)
		request_fail(rendering->request, rendering->error);
	else if (rendering->request)
		answer(rendering);
	buf_release(&rendering->body);
	rendering->done(rendering);
	give_memory_back(render);
}

int rendering_start(struct rendering *rendering)
{
	const struct service *service = rendering->service;

	rendering->plan.symbolizer = service->symbolizer;
	rendering->plan.host = service->host;
	rendering->error = -ECANCELED;
	rendering->job = (struct job){.run = run_render, .done = on_rendered};
	return lane_submit(service->render, &rendering->job);
}
