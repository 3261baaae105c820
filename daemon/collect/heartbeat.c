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
	/* After the timers were set going: the first of a CPU's ticks then, at the usual rate. It
	 * shows that the whole chain works. */
	FIRST_DRAIN_MS = 40,
	/* After a flip, before the first look whether the old half is quiet: programs run
	   microseconds. */
	SETTLE_MS = 1,
	/* Between two flips at the least: a tick at 99 Hz is as long. */
	FLIP_GAP_MS = 10,
	/* What is wanted as soon as can be waits so long for others that it shares its flip with.
	 */
	GATHER_MS = 3,
	/* Who shared a flip with so many is one of a crowd, the rest of which is still to come. */
	CROWD = 4,
	CROWD_GAP_MS = 100,
	/* In the long run requests are given a flip in so long; after a rest so many more at once.
	 */
	PACE_MS = 100,
	PACE_BURST = 32,
	/* The daemon's own flips keep so far from others. */
	DRAIN_GAP_MS = 100,
	/* How long before its moment a flip is given to the kernel half, which keeps time while the
	 * loop may be woken late. */
	FLIP_LEAD_MS = 100,
	/* So long before such a moment another flip still fits in. */
	CLEAR_MS = 20,
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

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of a flip that was in a hurry: what the next one has to keep to. */
static void note_hurry(struct heartbeat *heartbeat)
{
	heartbeat->shared = 0;
	for (const struct cut *cut = heartbeat->settling; cut; cut = cut->next)
		heartbeat->shared += !cut->at_mono_ns;
	if (heartbeat->shared)
		heartbeat->paced_ns = later(heartbeat->paced_ns, heartbeat->end_mono_ns) +
		                      PACE_MS * NSEC_PER_MSEC;
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
	note_hurry(heartbeat);
	/* Who is answered may want another boundary, and have the next flip begin. */
	heartbeat->answered = heartbeat->settling;
	heartbeat->settling = NULL;
	answer(&heartbeat->answered, heartbeat->end_mono_ns);
	plan_flip(heartbeat);
}

/* Moves the cuts that a boundary at this time serves, or those that it does not. */
static void move_cuts(struct cut **from, struct cut **to, uint64_t boundary, bool served)
{
	while (*from) {
		struct cut *cut = *from;

		if ((cut->at_mono_ns <= boundary) != served) {
			from = &cut->next;
			continue;
		}
		*from = cut->next;
		cut->next = *to;
		*to = cut;
	}
}

static void set_end(struct heartbeat *heartbeat, uint64_t at)
{
	heartbeat->end_mono_ns = at;
	heartbeat->next_start_mono_ns = at;
	heartbeat->next_start_wall_ns = clock_wall_ns() - clock_mono_ns() + at;
	move_cuts(&heartbeat->waiting, &heartbeat->settling, at, true);
	start_timer(&heartbeat->settle, on_settle, at + SETTLE_MS * NSEC_PER_MSEC);
}

static void flip(struct heartbeat *heartbeat, uint64_t at)
{
	heartbeat->flip_under_way = true;
	heartbeat->drain_due = false;
	heartbeat->start_mono_ns = heartbeat->next_start_mono_ns;
	heartbeat->start_wall_ns = heartbeat->next_start_wall_ns;
	heartbeat->old_half = bpf_flip(heartbeat->bpf, at);
	set_end(heartbeat, at);
}

static void on_plan(uv_timer_t *timer)
{
	plan_flip(timer->data);
}

/* When this one may have a flip, the last one having been then. */
static uint64_t soonest(const struct heartbeat *heartbeat, const struct cut *cut, uint64_t last)
{
	bool waits = cut->patient || heartbeat->shared >= CROWD;
	uint64_t gap_ms = waits ? CROWD_GAP_MS : FLIP_GAP_MS;
	uint64_t burst_ns = PACE_BURST * PACE_MS * NSEC_PER_MSEC;
	uint64_t at =
		later(clock_mono_ns() + GATHER_MS * NSEC_PER_MSEC, last + gap_ms * NSEC_PER_MSEC);

	return heartbeat->paced_ns > burst_ns ? later(at, heartbeat->paced_ns - burst_ns) : at;
}

/*
 * When the next flip is wanted; UINT64_MAX when nobody wants one. A moment that was asked for is
 * kept: where another flip does not fit in before it, that one serves all.
 */
static uint64_t next_wanted(const struct heartbeat *heartbeat)
{
	uint64_t now = clock_mono_ns(), last = heartbeat->next_start_mono_ns;
	uint64_t planned = UINT64_MAX, soon = UINT64_MAX, clear_ms = CLEAR_MS;

	for (const struct cut *cut = heartbeat->waiting; cut; cut = cut->next) {
		if (!cut->at_mono_ns)
			soon = earlier(soon, soonest(heartbeat, cut, last));
		else if (cut->at_mono_ns < planned)
			planned = cut->at_mono_ns;
	}
	if (heartbeat->drain_due && soon == UINT64_MAX) {
		/* The first one has none before it to keep away from. */
		soon = heartbeat->end_mono_ns ? later(now, last + DRAIN_GAP_MS * NSEC_PER_MSEC)
		                              : now;
		clear_ms = DRAIN_GAP_MS;
	}
	if (planned == UINT64_MAX)
		return soon;
	if (soon < planned && planned - soon > clear_ms * NSEC_PER_MSEC)
		return soon;
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

/* Who is in a hurry need not wait for a moment that others asked for, and the kernel half knows of
 * already, where a flip fits in before it. */
static void hurry_flip(struct heartbeat *heartbeat, const struct cut *cut)
{
	uint64_t at = soonest(heartbeat, cut, heartbeat->start_mono_ns);

	if (at + CLEAR_MS * NSEC_PER_MSEC >= heartbeat->end_mono_ns)
		return;
	bpf_flip_earlier(heartbeat->bpf, at);
	move_cuts(&heartbeat->settling, &heartbeat->waiting, at, false);
	set_end(heartbeat, at);
}

void heartbeat_cut(struct heartbeat *heartbeat, struct cut *cut)
{
	/* The flip under way serves it as well, as long as its moment is still to come. */
	bool joins = heartbeat->flip_under_way && cut->at_mono_ns <= heartbeat->end_mono_ns &&
	             clock_mono_ns() < heartbeat->end_mono_ns;
	struct cut **list = joins ? &heartbeat->settling : &heartbeat->waiting;

	cut->next = *list;
	*list = cut;
	if (joins && !cut->at_mono_ns && !cut->patient)
		hurry_flip(heartbeat, cut);
	plan_flip(heartbeat);
}

bool heartbeat_is_cut(const struct heartbeat *heartbeat)
{
	return heartbeat->settling;
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
	unlink_cut(&heartbeat->answered, cut);
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
	uint64_t since_ms = (clock_mono_ns() - heartbeat->next_start_mono_ns) / NSEC_PER_MSEC;
	uint64_t wait_ms = since_ms < FIRST_DRAIN_MS ? FIRST_DRAIN_MS - since_ms : 0;

	uv_update_time(heartbeat->second.loop);
	return uv_timer_start(&heartbeat->second, on_second, wait_ms, DRAIN_MS);
}

void heartbeat_stop(struct heartbeat *heartbeat)
{
	heartbeat->waiting = NULL;
	heartbeat->settling = NULL;
	heartbeat->answered = NULL;
	uv_close((uv_handle_t *)&heartbeat->second, NULL);
	uv_close((uv_handle_t *)&heartbeat->flip, NULL);
	uv_close((uv_handle_t *)&heartbeat->settle, NULL);
}
