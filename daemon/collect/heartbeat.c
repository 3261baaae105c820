/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When to flip. A flip that is under way is over when its half has been drained; the next one is
 * planned then.
 */
#include "collect/heartbeat.h"

#include "base/clock.h"
#include "collect/bpf.h"

enum {
	DRAIN_MS = 1000,
	/* A tick at the usual rate and a half: it shows that the whole chain works. */
	FIRST_DRAIN_MS = 15,
	/* After a flip, before the first look whether the old half is quiet: programs run
	   microseconds. */
	SETTLE_MS = 1,
	/* Between two flips at the least: a tick at 99 Hz is as long. */
	FLIP_GAP_MS = 10,
	/* Requests that come closer together than this share a flip. */
	SHARE_MS = 100,
	/* How long before its moment a flip is given to the kernel half, which keeps time while the
	 * loop may be woken late. */
	FLIP_LEAD_MS = 100,
};

static void plan_flip(struct heartbeat *heartbeat);

static void answer(struct cut **list, uint64_t boundary_mono_ns)
{
	while (*list) {
		struct cut *cut = *list;

		*list = cut->next;
		cut->done(cut, boundary_mono_ns);
	}
}

static void start_timer(uv_timer_t *timer, uv_timer_cb fn, uint64_t at_mono_ns)
{
	uint64_t now = clock_mono_ns();
	uint64_t wait_ns = at_mono_ns > now ? at_mono_ns - now : 0;

	uv_update_time(timer->loop);
	uv_timer_start(timer, fn, (wait_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, 0);
}

static void on_settle(uv_timer_t *timer)
{
	struct heartbeat *heartbeat = timer->data;
	uint64_t quiet = heartbeat->end_mono_ns + SETTLE_MS * NSEC_PER_MSEC;
	uint64_t now = clock_mono_ns();

	if (now < quiet || !bpf_settled(heartbeat->bpf, heartbeat->old_half)) {
		start_timer(&heartbeat->settle, on_settle,
		            now < quiet ? quiet : now + SETTLE_MS * NSEC_PER_MSEC);
		return;
	}
	heartbeat->drain(heartbeat->ctx);
	heartbeat->flip_under_way = false;
	answer(&heartbeat->settling, heartbeat->end_mono_ns);
	plan_flip(heartbeat);
}

/* Moves the cuts that a boundary at this time serves. */
static void take_waiting(struct heartbeat *heartbeat, uint64_t boundary)
{
	struct cut **link = &heartbeat->waiting;

	while (*link) {
		struct cut *cut = *link;

		if (cut->at_mono_ns > boundary) {
			link = &cut->next;
			continue;
		}
		*link = cut->next;
		cut->next = heartbeat->settling;
		heartbeat->settling = cut;
	}
}

static void flip(struct heartbeat *heartbeat, uint64_t at)
{
	heartbeat->flip_under_way = true;
	heartbeat->drain_due = false;
	heartbeat->start_mono_ns = heartbeat->next_start_mono_ns;
	heartbeat->start_wall_ns = heartbeat->next_start_wall_ns;
	heartbeat->end_mono_ns = at;
	heartbeat->old_half = bpf_flip(heartbeat->bpf, at);
	heartbeat->next_start_mono_ns = at;
	heartbeat->next_start_wall_ns = clock_wall_ns() - clock_mono_ns() + at;
	take_waiting(heartbeat, at);
	start_timer(&heartbeat->settle, on_settle, at + SETTLE_MS * NSEC_PER_MSEC);
}

static void on_plan(uv_timer_t *timer)
{
	plan_flip(timer->data);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * When the next flip is wanted; UINT64_MAX when nobody wants one. A moment that was asked for is
 * kept; who wants one as soon as can be shares it, or the one of those who came just before.
 */
static uint64_t next_wanted(const struct heartbeat *heartbeat)
{
	uint64_t now = clock_mono_ns(), last = heartbeat->next_start_mono_ns;
	uint64_t planned = UINT64_MAX, soon;
	bool hurry = heartbeat->drain_due;

	for (const struct cut *cut = heartbeat->waiting; cut; cut = cut->next) {
		if (!cut->at_mono_ns)
			hurry = true;
		else if (cut->at_mono_ns < planned)
			planned = cut->at_mono_ns;
	}
	soon = later(now, last + SHARE_MS * NSEC_PER_MSEC);
	if (hurry && planned > soon + SHARE_MS * NSEC_PER_MSEC)
		return soon;
	if (planned == UINT64_MAX)
		return UINT64_MAX;
	return later(planned, later(now, last + FLIP_GAP_MS * NSEC_PER_MSEC));
}

/* Sets the next flip going if it is near, else a timer for when it will be. */
static void plan_flip(struct heartbeat *heartbeat)
{
	uint64_t at = next_wanted(heartbeat);

	if (heartbeat->flip_under_way || at == UINT64_MAX)
		return;
	if (at > clock_mono_ns() + FLIP_LEAD_MS * NSEC_PER_MSEC)
		start_timer(&heartbeat->flip, on_plan, at - FLIP_LEAD_MS * NSEC_PER_MSEC);
	else
		flip(heartbeat, at);
}

static void on_second(uv_timer_t *timer)
{
	struct heartbeat *heartbeat = timer->data;

	heartbeat->drain_due = true;
	plan_flip(heartbeat);
}

void heartbeat_cut(struct heartbeat *heartbeat, struct cut *cut)
{
	/* The flip under way serves it as well, as long as its moment is still to come. */
	bool joins = heartbeat->flip_under_way && cut->at_mono_ns <= heartbeat->end_mono_ns &&
	             clock_mono_ns() < heartbeat->end_mono_ns;
	struct cut **list = joins ? &heartbeat->settling : &heartbeat->waiting;

	cut->next = *list;
	*list = cut;
	plan_flip(heartbeat);
}

static void unlink_cut(struct cut **list, const struct cut *cut)
{
	for (; *list; list = &(*list)->next) {
		if (*list == cut) {
			*list = cut->next;
			return;
		}
	}
}

void heartbeat_cancel(struct heartbeat *heartbeat, struct cut *cut)
{
	unlink_cut(&heartbeat->waiting, cut);
	unlink_cut(&heartbeat->settling, cut);
}

static void init_timer(struct heartbeat *heartbeat, uv_loop_t *loop, uv_timer_t *timer)
{
	uv_timer_init(loop, timer);
	timer->data = heartbeat;
}

void heartbeat_init(struct heartbeat *heartbeat, uv_loop_t *loop)
{
	init_timer(heartbeat, loop, &heartbeat->second);
	init_timer(heartbeat, loop, &heartbeat->flip);
	init_timer(heartbeat, loop, &heartbeat->settle);
}

void heartbeat_begin(struct heartbeat *heartbeat)
{
	heartbeat->next_start_mono_ns = clock_mono_ns();
	heartbeat->next_start_wall_ns = clock_wall_ns();
}

int heartbeat_start(struct heartbeat *heartbeat)
{
	return uv_timer_start(&heartbeat->second, on_second, FIRST_DRAIN_MS, DRAIN_MS);
}

void heartbeat_stop(struct heartbeat *heartbeat)
{
	heartbeat->waiting = NULL;
	heartbeat->settling = NULL;
	uv_close((uv_handle_t *)&heartbeat->second, NULL);
	uv_close((uv_handle_t *)&heartbeat->flip, NULL);
	uv_close((uv_handle_t *)&heartbeat->settle, NULL);
}
