/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /gpu: the use of GPUs, by process and device, together with what NVIDIA's driver reports. The
 * driver is queried first, which may take a while; the figures are read when its answer arrives.
 */
#include "gpu/nvml.h"

#include "http/json.h"
#include "http/route.h"
#include "views/gpu_view.h"

#include <errno.h>
#include <string.h>

struct gpu_ask {
	struct nvml_wait wait; /* must be the first member */
	struct request *request;
	bool text;
};

struct figures_list {
	struct gpu_figures *at;
	size_t count, capacity;
};

/* The caller is about to answer or free the request. */
static void on_abandoned(void *owner)
{
	struct gpu_ask *ask = owner;

	nvml_forget(ask->request->service->nvml, &ask->wait);
	free(ask);
}

static int add_figures(const struct gpu_figures *figures, void *ctx)
{
	struct figures_list *list = ctx;

	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 16;
		struct gpu_figures *at = reallocarray(list->at, capacity, sizeof(*at));

		if (!at)
			return -ENOMEM;
		list->at = at;
		list->capacity = capacity;
	}
	list->at[list->count++] = *figures;
	return 0;
}

static void answer(struct request *request, bool text, const struct gpu_view *view)
{
	struct buf body = BUF_INIT;

	if (!text) {
		json_answer(request, gpu_view_json(view));
		return;
	}
	gpu_view_text(view, &body);
	if (buf_error(&body)) {
		buf_release(&body);
		request_fail(request, -ENOMEM);
		return;
	}
	request_answer(request, "text/plain; charset=utf-8", &body);
}

static void on_told(struct nvml_wait *wait, const struct nvml_report *report, const char *why)
{
	struct gpu_ask *ask = (struct gpu_ask *)wait;
	struct request *request = ask->request;
	const struct service *service = request->service;
	struct gpu *gpu = collector_gpu(service->collector);
	struct figures_list list = {0};
	int err;

	/* Includes the latest events. */
	gpu_read(gpu);
	err = gpu_each(gpu, add_figures, &list);
	if (err)
		request_fail(request, err);
	else
		answer(request, ask->text,
		       &(struct gpu_view){
			       .figures = list.at,
			       .count = list.count,
			       .why = gpu_why_off(gpu),
			       .report = report,
			       .nvml_why = why,
		       });
	free(list.at);
	free(ask);
}

void handle_gpu(struct request *request)
{
	const char *format = query_get(&request->query, "format");
	bool text = format && !strcmp(format, "text");
	struct refusal refusal;
	struct gpu_ask *ask;
	int err;

	if (format && !text && strcmp(format, "json") != 0) {
		refuse(&refusal, MHD_HTTP_BAD_REQUEST, "bad format=%.64s: json or text is accepted",
		       format);
		request_refuse(request, &refusal);
		return;
	}
	if (request->head) {
		request_answer_head(request,
		                    text ? "text/plain; charset=utf-8" : "application/json");
		return;
	}
	ask = calloc(1, sizeof(*ask));
	err = ask ? request_park(request, ask, on_abandoned) : -ENOMEM;
	if (err) {
		free(ask);
		request_fail(request, err);
		return;
	}
	ask->wait.done = on_told;
	ask->request = request;
	ask->text = text;
	nvml_ask(request->service->nvml, &ask->wait);
}
