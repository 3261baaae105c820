/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides when to flip. A flip ends when its half has been drained; then the next one is planned.
 */
#include "kernel/heartbeat.h"

#include "base/clock.h"
#include "kernel/bpf.h"

enum {
	DRAIN_MS = 1000,
	/* From the start of the timers. By then each CPU has had its first tick, at the usual rate.
	 * This drain shows that the whole chain works. */
	FIRST_DRAIN_MS = 40,
	/* From a flip to the first check whether the old half is quiet: programs run for
	 * microseconds. */
	SETTLE_MS = 1,
	/* Minimum from one flip to the next: one tick at 99 Hz. */
	FLIP_GAP_MS = 10,
	/* A request for a boundary as soon as possible waits this long for others to share its
	 * flip. */
	GATHER_MS = 3,
	/* Requests that share a flip in this number are a crowd; others of the crowd are still to
	 * come. */
	CROWD = 4,
	CROWD_GAP_MS = 100,
	/* In the long run requests get one flip in this time. After a pause they get up to
	 * PACE_BURST more at once. */
	PACE_MS = 100,
	PACE_BURST = 32,
	/* Minimum from the daemon's own flips to others. */
	DRAIN_GAP_MS = 100,
	/* How long before its moment a flip is announced to the kernel half, which keeps the exact
	 * time while the loop may wake late. */
	FLIP_LEAD_MS = 100,
	/* What is still going on is accounted for this long before a flip. */
	EVE_MS = 2,
	/* Another flip fits in only if it is at least this long before a requested moment. */
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

/* Records what the next flip must consider: how many requests for a boundary as soon as possible
 * this flip has served, and when the next such request may be served. */
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
	/* done() may ask for another boundary and so begin the next flip. That request must not
	 * join the list that is being answered. */
	heartbeat->answered = heartbeat->settling;
	heartbeat->settling = NULL;
	answer(&heartbeat->answered, heartbeat->end_mono_ns);
	plan_flip(heartbeat);
}

/* Moves the requests that a boundary at this time serves, or those that it does not serve. */
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

static void on_eve(uv_timer_t *timer)
{
	struct heartbeat *heartbeat = timer->data;

	if (heartbeat->eve_of)
		heartbeat->eve_of(heartbeat->ctx);
}

static void set_end(struct heartbeat *heartbeat, uint64_t at)
{
	start_timer(&heartbeat->eve, on_eve, at - EVE_MS * NSEC_PER_MSEC);
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

/* The earliest moment of a flip for this request. The last flip was at `last`. */
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
 * The moment of the next flip; UINT64_MAX if none is wanted. A requested moment is kept exactly. If
 * no other flip fits in before it, that flip serves all requests.
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
		/* The first flip has no flip before it to keep a distance from. */
		soon = now + GATHER_MS * NSEC_PER_MSEC;
		if (heartbeat->end_mono_ns)
			soon = later(soon, last + DRAIN_GAP_MS * NSEC_PER_MSEC);
		clear_ms = DRAIN_GAP_MS;
	}
	if (planned == UINT64_MAX)
		return soon;
	if (soon < planned && planned - soon > clear_ms * NSEC_PER_MSEC)
		return soon;
	return later(planned, later(now, last + FLIP_GAP_MS * NSEC_PER_MSEC));
}

/* Begins the next flip if it is near. Otherwise sets a timer for it. */
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

/* The flip under way may be at a moment that others asked for and that the kernel half already has.
 * A request for a boundary as soon as possible moves the flip forward if one fits in before that
 * moment. */
static void hurry_flip(struct heartbeat *heartbeat, const struct cut *cut)
{
	uint64_t at = soonest(heartbeat, cut, heartbeat->start_mono_ns);

	if (at + CLEAR_MS * NSEC_PER_MSEC >= heartbeat->end_mono_ns)
		return;
	bpf_flip_earlier(heartbeat->bpf, at);
	move_cuts(&heartbeat->settling, &heartbeat->waiting, at, false);
	set_end(heartbeat, at);
}

/* Whether what is still going on is accounted for up to a requested boundary: its eve is to come,
 * or came when there was another request. */
static bool is_exact(const struct heartbeat *heartbeat)
{
	return heartbeat->settling || uv_is_active((const uv_handle_t *)&heartbeat->eve);
}

void heartbeat_cut(struct heartbeat *heartbeat, struct cut *cut)
{
	/* The flip under way serves this request too if its moment is still to come. */
	bool joins = heartbeat->flip_under_way && is_exact(heartbeat) &&
	             cut->at_mono_ns <= heartbeat->end_mono_ns &&
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
	init_timer(heartbeat, loop, &heartbeat->eve);
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
	uv_close((uv_handle_t *)&heartbeat->eve, NULL);
	uv_close((uv_handle_t *)&heartbeat->settle, NULL);
}
