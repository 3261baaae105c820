/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /healthz and /readyz: whether profd is alive, and whether it samples. For load balancers and
 * scripts.
 */
#include "http/route.h"

static const char plain_text[] = "text/plain; charset=utf-8";

void handle_healthz(struct request *request)
{
	struct buf body = BUF_INIT;

	buf_add_text(&body, "ok\n");
	request_answer(request, plain_text, &body);
}

void handle_readyz(struct request *request)
{
	struct buf body = BUF_INIT;
	struct refusal refusal;

	if (!collector_ready(request->service->collector)) {
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "starting: no samples recorded yet");
		request_refuse(request, &refusal);
		return;
	}
	buf_add_text(&body, "ready\n");
	request_answer(request, plain_text, &body);
}
