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

struct exports {
	struct exports_config config;
	const struct exporter *exporter;
	const char *place;
	const struct encoder *encoder;
	uv_timer_t timer;
	struct lane *lane;
	bool started, stopped, capturing;
	uint64_t from_mono_ns[KIND_COUNT]; /* where the next interval begins; held */
	int error;                         /* of the last profile, logged once */
	struct exports_stats stats;

	/* The round. */
	bool in_round;
	enum profile_kind kind;
	struct capture capture;
	struct render_plan plan;
	struct turn turn;
	struct job put;
	struct buf body;
	int err; /* of the job */
};

static void next_kind(struct exports *exports);

struct exports *exports_new(const struct exports_config *config)
{
	struct exports *exports = calloc(1, sizeof(*exports));

	if (!exports)
		return NULL;
	exports->config = *config;
	exports->encoder = encoder_find("pprof");
	exports->exporter = exporter_find(config->target, &exports->place);
	exports->lane = lane_new(config->loop, WORK_export, 1);
	if (exports->lane)
		return exports;
	free(exports);
	return NULL;
}

static struct recorder *recorder_of(const struct exports *exports)
{
	return history_recorder(exports->config.from.history, exports->kind);
}

static void end_kind(struct exports *exports)
{
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
	uint64_t *from = &exports->from_mono_ns[exports->kind];

	/* If the boundary cannot be held, the next interval is off by some seconds at most. */
	recorder_hold(recorder_of(exports), exports->capture.to_mono_ns);
	recorder_unhold(recorder_of(exports), *from);
	*from = exports->capture.to_mono_ns;
}

static void fail_kind(struct exports *exports, int err)
{
	exports->stats.failed++;
	if (err != exports->error && !exports->stopped)
		log_warning("cannot export to %s:%s: %s; profd tries again with the next profiles",
		            exports->exporter->name, exports->place, strerror(-err));
	exports->error = err;
	/* Together with the next interval it would be larger still. */
	if (err == -EFBIG)
		advance(exports);
	end_kind(exports);
}

static struct exports *of_put(struct job *job)
{
	return (struct exports *)((char *)job - offsetof(struct exports, put));
}

/* On the export lane. */
static void run_put(struct job *job)
{
	struct exports *exports = of_put(job);
	uint64_t offset_ns = exports->capture.facts.wall_offset_ns;
	const struct slices *slices = &exports->capture.slices;
	const struct exported profile = {
		.host = exports->config.host->nodename,
		.kind = sources[exports->kind]->name,
		.suffix = exports->encoder->suffix,
		.start_unix_ns = slices->profiles[0]->start_mono_ns + offset_ns,
		.end_unix_ns = exports->capture.to_mono_ns + offset_ns,
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
	exports->error = 0;
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

	exports->err = -ECANCELED; /* if the lane is stopped */
	exports->put = (struct job){.run = run_put, .done = on_put};
	if (!err)
		err = lane_submit(exports->lane, &exports->put);
	if (err)
		fail_kind(exports, err);
}

static void on_captured(struct capture *capture, int err)
{
	struct exports *exports =
		(struct exports *)((char *)capture - offsetof(struct exports, capture));

	exports->capturing = false;
	if (!err && !capture->slices.count) {
		end_kind(exports);
		return;
	}
	exports->plan = (struct render_plan){
		.symbolizer = exports->config.symbolizer,
		.host = exports->config.host,
		.encoder = exports->encoder,
	};
	capture_plan(capture, &exports->plan);
	exports->err = -ECANCELED;
	exports->body.max = MAX_EXPORT_BYTES;
	exports->turn = (struct turn){.job = {.run = run_render, .done = on_rendered}};
	if (!err)
		err = lane_submit_turn(exports->config.render, &exports->turn);
	if (err)
		fail_kind(exports, err);
}

static bool is_on(const struct exports *exports, enum profile_kind kind)
{
	struct source_status status;

	return collector_source(exports->config.from.collector, kind, &status) && status.on;
}

static void next_kind(struct exports *exports)
{
	while (exports->kind < KIND_COUNT && !is_on(exports, exports->kind))
		exports->kind++;
	exports->in_round = exports->kind < KIND_COUNT;
	if (!exports->in_round)
		return;
	exports->capturing = true;
	exports->capture = (struct capture){
		.from = exports->config.from,
		.ask = {.kind = exports->kind,
	                .range = RANGE_SINCE,
	                .since_mono_ns = exports->from_mono_ns[exports->kind],
	                .all = !exports->from_mono_ns[exports->kind]},
		.done = on_captured,
	};
	capture_start(&exports->capture);
}

static void on_due(uv_timer_t *timer)
{
	struct exports *exports = timer->data;

	if (exports->in_round) {
		exports->stats.late++;
		return;
	}
	exports->kind = 0;
	next_kind(exports);
}

void exports_start(struct exports *exports)
{
	uint64_t every_ms = exports->config.every_ns / NSEC_PER_MSEC;

	uv_timer_init(exports->config.loop, &exports->timer);
	exports->timer.data = exports;
	exports->started = true;
	uv_timer_start(&exports->timer, on_due, every_ms, every_ms);
}

void exports_stop(struct exports *exports)
{
	if (!exports || exports->stopped)
		return;
	exports->stopped = true;
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
}
