/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One round at a time, and in it one kind at a time: select (capture), name and encode (render
 * lane), put (export lane).
 */
#include "export/exports.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/log.h"
#include "ingest/source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SKIPPED = 7 }; /* rounds that are left out after one that failed */

struct exports {
	struct exports_config config;
	const struct exporter *exporter;
	const char *place;
	uv_timer_t timer;
	struct lane *lane;
	struct past past; /* has where the next interval of each kind begins */
	bool started, stopped, capturing;
	int errors[KIND_COUNT];    /* of the last profile of the kind, logged once */
	uint32_t skipped, to_skip; /* rounds, since and after one that failed */
	struct exports_stats stats;

	/* The round. */
	bool in_round, has_failed;
	bool again; /* one more follows */
	void (*finished)(void *ctx);
	void *finished_ctx; /* of finished(), which is called after the last round */
	enum profile_kind kind;
	struct capture capture;
	uint64_t start_unix_ns, to_mono_ns; /* of the interval; its end is held, or 0 */
	struct render_plan plan;
	struct turn turn;
	struct job put;
	struct buf body;
	int err; /* of the job */
};

static void next_kind(struct exports *exports);
static void start_round(struct exports *exports);

struct exports *exports_new(const struct exports_config *config)
{
	struct exports *exports = calloc(1, sizeof(*exports));

	if (!exports)
		return NULL;
	exports->config = *config;
	exports->exporter = exporter_find(config->target, &exports->place);
	exports->lane = lane_new(config->loop, WORK_export, 1 + PAST_ASKS);
	if (!exports->lane) {
		free(exports);
		return NULL;
	}
	exports->past =
		(struct past){.lane = exports->lane, .place = exports->place, .host = config->host};
	return exports;
}

struct past *exports_past(struct exports *exports)
{
	return exports && exports->exporter->is_past ? &exports->past : NULL;
}

static struct recorder *recorder_of(const struct exports *exports)
{
	return history_recorder(exports->config.from.history, exports->kind);
}

/* ---- the end of a kind ---------------------------------------------------------------------- */

static void end_kind(struct exports *exports)
{
	if (exports->to_mono_ns)
		recorder_unhold(recorder_of(exports), exports->to_mono_ns);
	exports->to_mono_ns = 0;
	capture_release(&exports->capture);
	buf_release(&exports->body);
	if (exports->stopped) {
		exports->in_round = false;
		return;
	}
	exports->kind++;
	next_kind(exports);
}

/* The next interval begins where this one ended. */
static void advance(struct exports *exports)
{
	uint64_t *until = &exports->past.until_mono_ns[exports->kind];

	recorder_unhold(recorder_of(exports), *until);
	*until = exports->to_mono_ns;
	exports->to_mono_ns = 0;
}

/* Together with the next interval, a profile that is too large would be larger still. */
static void fail_kind(struct exports *exports, int err)
{
	int *last = &exports->errors[exports->kind];

	exports->stats.failed++;
	exports->has_failed = true;
	if (err != *last && !exports->stopped)
		log_warning("cannot export %s to %s:%s: %s; profd %s", sources[exports->kind]->name,
		            exports->exporter->name, exports->place, strerror(-err),
		            err == -EFBIG ? "leaves it out" : "tries again with the next profiles");
	*last = err;
	if (err == -EFBIG)
		advance(exports);
	end_kind(exports);
}

/* ---- a kind --------------------------------------------------------------------------------- */

static struct exports *of_put(struct job *job)
{
	return (struct exports *)((char *)job - offsetof(struct exports, put));
}

/* On the export lane. */
static void run_put(struct job *job)
{
	struct exports *exports = of_put(job);
	const struct profile_file profile = {
		.host = exports->config.host->nodename,
		.kind = sources[exports->kind]->name,
		.suffix = exports->exporter->encoder->suffix,
		.start_unix_ns = exports->start_unix_ns,
		.bytes = exports->body.data,
		.len = exports->body.len,
	};

	exports->err = exports->exporter->put(exports->place, exports->config.max_bytes, &profile);
}

static void on_put(struct job *job)
{
	struct exports *exports = of_put(job);

	if (exports->err) {
		fail_kind(exports, exports->err);
		return;
	}
	exports->errors[exports->kind] = 0;
	exports->stats.profiles++;
	exports->stats.bytes += exports->body.len;
	advance(exports);
	end_kind(exports);
}

static struct exports *of_turn(struct job *job)
{
	return (struct exports *)((char *)job - offsetof(struct exports, turn.job));
}

/* On the render lane. */
static void run_render(struct job *job)
{
	struct exports *exports = of_turn(job);
	char incomplete[RENDER_LINE_BYTES];

	exports->err = render_profile(&exports->plan, &exports->body, incomplete)
	                       ?: buf_error(&exports->body);
}

static void on_rendered(struct job *job)
{
	struct exports *exports = of_turn(job);
	int err = exports->err;

	/* However long the exporter takes, it keeps no slices. */
	capture_release(&exports->capture);
	exports->err = -ECANCELED; /* if the lane is stopped */
	exports->put = (struct job){.run = run_put, .done = on_put};
	if (!err)
		err = lane_submit(exports->lane, &exports->put);
	if (err)
		fail_kind(exports, err);
}

static int render(struct exports *exports)
{
	exports->plan = (struct render_plan){
		.symbolizer = exports->config.symbolizer,
		.host = exports->config.host,
		.encoder = exports->exporter->encoder,
	};
	capture_plan(&exports->capture, &exports->plan);
	if (exports->exporter->is_past)
		exports->plan.describe = NULL;
	exports->err = -ECANCELED;
	exports->body.max = MAX_EXPORT_BYTES;
	exports->turn = (struct turn){.job = {.run = run_render, .done = on_rendered}};
	return lane_submit_turn(exports->config.render, &exports->turn);
}

/* The end of the interval is held from now on, so that no slice reaches across it. */
static void on_captured(struct capture *capture, int err)
{
	struct exports *exports =
		(struct exports *)((char *)capture - offsetof(struct exports, capture));

	exports->capturing = false;
	if (!err && !capture->slices.count) {
		end_kind(exports);
		return;
	}
	if (!err)
		err = recorder_hold(recorder_of(exports), capture->to_mono_ns);
	if (!err) {
		exports->to_mono_ns = capture->to_mono_ns;
		exports->start_unix_ns = capture->slices.profiles[0]->start_wall_ns;
		err = render(exports);
	}
	if (err)
		fail_kind(exports, err);
}

/* ---- the round ------------------------------------------------------------------------------ */

static bool is_on(const struct exports *exports, enum profile_kind kind)
{
	struct source_status status;

	return collector_source(exports->config.from.collector, kind, &status) && status.on;
}

/* While a place cannot be written, each attempt is for more of the history. */
static void end_round(struct exports *exports)
{
	exports->in_round = false;
	exports->skipped = 0;
	exports->to_skip = exports->has_failed ? 2 * exports->to_skip + 1 : 0;
	if (exports->to_skip > MOST_SKIPPED)
		exports->to_skip = MOST_SKIPPED;
	if (exports->again)
		start_round(exports);
	else if (exports->finished)
		exports->finished(exports->finished_ctx);
}

static void next_kind(struct exports *exports)
{
	while (exports->kind < KIND_COUNT && !is_on(exports, exports->kind))
		exports->kind++;
	if (exports->kind == KIND_COUNT) {
		end_round(exports);
		return;
	}
	exports->capturing = true;
	exports->capture = (struct capture){
		.from = exports->config.from,
		.ask = {.kind = exports->kind,
	                .range = RANGE_SINCE,
	                .since_mono_ns = exports->past.until_mono_ns[exports->kind],
	                .all = !exports->past.until_mono_ns[exports->kind]},
		.done = on_captured,
	};
	if (exports->exporter->is_past)
		exports->capture.ask.selection = select_all;
	capture_start(&exports->capture);
}

static void start_round(struct exports *exports)
{
	exports->in_round = true;
	exports->again = exports->has_failed = false;
	exports->kind = 0;
	next_kind(exports);
}

static void on_due(uv_timer_t *timer)
{
	struct exports *exports = timer->data;

	if (exports->in_round) {
		exports->stats.late++;
		return;
	}
	if (exports->skipped++ < exports->to_skip)
		return;
	start_round(exports);
}

void exports_start(struct exports *exports)
{
	uint64_t every_ms = exports->config.every_ns / NSEC_PER_MSEC;

	uv_timer_init(exports->config.loop, &exports->timer);
	exports->timer.data = exports;
	exports->started = true;
	uv_timer_start(&exports->timer, on_due, every_ms, every_ms);
}

void exports_finish(struct exports *exports, void (*fn)(void *ctx), void *ctx)
{
	uv_timer_stop(&exports->timer);
	exports->finished = fn;
	exports->finished_ctx = ctx;
	/* The round that runs has what was recorded until it began. */
	if (exports->in_round)
		exports->again = true;
	else
		start_round(exports);
}

void exports_stop(struct exports *exports)
{
	if (!exports || exports->stopped)
		return;
	exports->stopped = true;
	exports->again = false;
	exports->finished = NULL;
	if (exports->started)
		uv_close((uv_handle_t *)&exports->timer, NULL);
	if (exports->capturing) {
		capture_cancel(&exports->capture);
		end_kind(exports);
	}
	lane_stop(exports->lane);
}

void exports_free(struct exports *exports)
{
	if (!exports)
		return;
	lane_free(exports->lane);
	free(exports);
}

void exports_get_stats(const struct exports *exports, struct exports_stats *ret_stats)
{
	*ret_stats = exports->stats;
	ret_stats->unreadable = exports->past.unreadable;
}
