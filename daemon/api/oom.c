/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /oom: the processes that ran out of memory, and what had made them grow, or what they held on
 * GPUs. The answer is a list, or one of its profiles, which is rendered like any other.
 */
#include "api/format_query.h"
#include "api/rendering.h"
#include "base/clock.h"
#include "capture/comments.h"
#include "http/json.h"
#include "http/query_value.h"
#include "http/route.h"
#include "ingest/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct oom {
	struct rendering rendering;
	struct format_query format;
	struct selection selection; /* selects the whole profile */
	struct profile *profile;
	struct capture_facts facts;
	char kind[32]; /* in the file's name */
};

static void oom_free(struct oom *oom)
{
	if (!oom)
		return;
	profile_unref(oom->profile);
	free(oom);
}
DEFINE_CLEANUP(struct oom *, oom_free)

static void on_rendered(struct rendering *rendering)
{
	oom_free((struct oom *)((char *)rendering - offsetof(struct oom, rendering)));
}

/* The caller is about to answer or free the request. */
static void on_abandoned(void *owner)
{
	struct oom *oom = owner;

	rendering_abandon(&oom->rendering);
}

static json_t *keepsake_json(const struct keepsake *keepsake)
{
	return json_pack("{s:I, s:I, s:o, s:I, s:s, s:s, s:I}", "id", (json_int_t)keepsake->id,
	                 "pid", (json_int_t)keepsake->pid, "comm",
	                 json_text(keepsake->comm, strlen(keepsake->comm)), "when_unix_ms",
	                 (json_int_t)keepsake->when_unix_ms, "reason",
	                 keepsake_reason_texts[keepsake->reason], "type",
	                 sources[keepsake->kind]->name, "bytes", (json_int_t)keepsake->bytes);
}

static void answer_list(struct request *request, const struct keepsakes *keepsakes)
{
	json_t *list = json_array();
	const struct keepsake *keepsake;

	for (size_t i = 0; list && (keepsake = keepsakes_at(keepsakes, i)); i++)
		if (json_array_append_new(list, keepsake_json(keepsake))) {
			json_decref(list);
			list = NULL;
		}
	json_answer(request, list);
}

/* Finds the requested profile, and reads the requested format. */
static int read_ask(struct request *request, const struct keepsakes *keepsakes, struct oom *oom,
                    struct refusal *ret_refusal)
{
	const struct keepsake *keepsake;
	uint64_t id = 0;
	int err = query_number(&request->query, "id", 1, UINT32_MAX, &id, ret_refusal);

	if (!err)
		err = format_query_read(&request->query, &oom->format, ret_refusal);
	if (err)
		return err;
	keepsake = keepsakes_find(keepsakes, (uint32_t)id);
	if (!keepsake)
		return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
		              "profd keeps no profile with id=%" PRIu64
		              "; GET /oom lists the profiles",
		              id);
	oom->profile = profile_ref(keepsake->profile);
	oom->facts.kind = keepsake->kind;
	snprintf(oom->kind, sizeof(oom->kind), "oom-%" PRIu32, keepsake->pid);
	return 0;
}

static void read_facts(const struct service *service, struct oom *oom)
{
	const struct profile *profile = oom->profile;

	oom->facts.state = true;
	collector_source(service->collector, oom->facts.kind, &oom->facts.source);
	oom->selection.no_native = oom->format.no_native;
	oom->facts.selection = &oom->selection;
	oom->facts.from_mono_ns = profile->start_mono_ns;
	oom->facts.to_mono_ns = profile->start_mono_ns + profile->duration_ns;
	oom->facts.wall_offset_ns = clock_wall_ns() - clock_mono_ns();
}

/* Suspends the request and has the profile rendered. */
static int submit(struct request *request, struct oom *oom)
{
	int err = request_park(request, oom, on_abandoned);

	if (err)
		return err;
	read_facts(request->service, oom);
	oom->rendering = (struct rendering){
		.request = request,
		.service = request->service,
		.kind = oom->kind,
		.plan = {.selection = &oom->selection,
	                 .encoder = oom->format.encoder,
	                 .options = oom->format.options,
	                 .slices = &oom->profile,
	                 .slice_count = 1,
	                 .describe = capture_describe,
	                 .ctx = &oom->facts},
		.done = on_rendered,
	};
	return rendering_start(&oom->rendering);
}

static void answer_profile(struct request *request, const struct keepsakes *keepsakes)
{
	_cleanup_(oom_freep) struct oom *oom = calloc(1, sizeof(*oom));
	struct refusal refusal;
	int err = oom ? read_ask(request, keepsakes, oom, &refusal) : -ENOMEM;

	if (err == -EINVAL) {
		request_refuse(request, &refusal);
		return;
	}
	if (!err && request->head) {
		request_answer_head(request, oom->format.encoder->content_type);
		return;
	}
	if (!err)
		err = submit(request, oom);
	if (err)
		request_fail(request, err);
	else
		TAKE_PTR(oom); /* the lane owns it */
}

void handle_oom(struct request *request)
{
	const struct memory_watch *watch = collector_memory(request->service->collector);
	const struct keepsakes *keepsakes = memory_watch_keepsakes(watch);
	struct refusal refusal;

	if (query_get(&request->query, "id")) {
		answer_profile(request, keepsakes);
		return;
	}
	if (request->query.count) {
		refuse(&refusal, MHD_HTTP_BAD_REQUEST,
		       "%.64s= requires id=, which selects a profile; GET /oom lists the profiles",
		       request->query.pairs[0].name);
		request_refuse(request, &refusal);
		return;
	}
	answer_list(request, keepsakes);
}
