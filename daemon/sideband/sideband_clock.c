/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One timer, and the ring buffer by which the kernel half wakes the loop.
 */
#include "sideband/sideband_clock.h"

#include "base/clock.h"
#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

enum {
	REGULAR_MS = 100,
	/* The interval doubles after each read that found nothing, up to this. Drains are closer
	 * together, so then only drains read the side-band. */
	MAX_REGULAR_MS = 1500,
	/* From a wake to the read: a program that has just started maps a dozen files. */
	BURST_MS = 3,
	/* Wakes that follow each other sooner than this are a storm, in which each rest is twice
	 * the one before. */
	STORM_MS = 50,
	LEAST_REST_MS = 4,
	MAX_REST_MS = 16,
	/* After wakes that find nothing to read: code for which profd has no data wakes the loop
	 * again and again. */
	MAX_IDLE_REST_MS = REGULAR_MS,
};

static void on_timer(uv_timer_t *timer);

static void wait_ms(struct sideband_clock *clock, enum sideband_clock_state state, unsigned ms)
{
	clock->state = state;
	uv_timer_start(&clock->timer, on_timer, ms, 0);
}

static void begin_burst(struct sideband_clock *clock)
{
	uint64_t now = clock_mono_ns();

	if (now - clock->woken_ns > (clock->rest_ms + STORM_MS) * NSEC_PER_MSEC)
		clock->rest_ms = 0;
	clock->woken_ns = now;
	wait_ms(clock, CLOCK_BURST, BURST_MS);
}

/* Records that came while the kernel half could not wake the loop are in the rings. They are
 * handled as if they had woken it. */
static void arm(struct sideband_clock *clock)
{
	__atomic_store_n(&clock->bpf->skeleton->bss->wake_armed, 1, __ATOMIC_SEQ_CST);
	if (sideband_is_waiting(clock->sideband))
		begin_burst(clock);
	else
		wait_ms(clock, CLOCK_WAITS, clock->regular_ms);
}

static unsigned next_regular_ms(const struct sideband_clock *clock, bool told)
{
	unsigned longer = 2 * clock->regular_ms;

	if (told)
		return REGULAR_MS;
	return longer < MAX_REGULAR_MS ? longer : MAX_REGULAR_MS;
}

static unsigned next_rest_ms(const struct sideband_clock *clock, bool told)
{
	unsigned longer = clock->rest_ms ? 2 * clock->rest_ms : LEAST_REST_MS;
	unsigned limit = told ? MAX_REST_MS : MAX_IDLE_REST_MS;

	return longer < limit ? longer : limit;
}

static void on_timer(uv_timer_t *timer)
{
	struct sideband_clock *clock = timer->data;
	bool told;

	switch (clock->state) {
	case CLOCK_WAITS:
		clock->reads++;
		told = sideband_read_some(clock->sideband);
		clock->regular_ms = next_regular_ms(clock, told);
		/* If a wake was lost, the next one will arrive. */
		arm(clock);
		break;
	case CLOCK_BURST:
		clock->reads++;
		told = sideband_read_some(clock->sideband);
		clock->regular_ms = REGULAR_MS;
		clock->rest_ms = next_rest_ms(clock, told);
		wait_ms(clock, CLOCK_RESTS, clock->rest_ms);
		break;
	case CLOCK_RESTS:
		arm(clock);
		break;
	}
}

void sideband_clock_put_off(struct sideband_clock *clock)
{
	if (clock->started && clock->state == CLOCK_WAITS && clock->regular_ms == MAX_REGULAR_MS)
		arm(clock);
}

static int ignore(void *ctx, void *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
	return 0;
}

static void on_woken(uv_poll_t *poll, int status, int events)
{
	struct sideband_clock *clock = poll->data;

	(void)status;
	(void)events;
	ring_buffer__consume(clock->wakes);
	if (clock->state == CLOCK_WAITS)
		begin_burst(clock);
}

int sideband_clock_start(struct sideband_clock *clock, uv_loop_t *loop, struct bpf *bpf,
                         struct sideband *sideband)
{
	int err;

	clock->bpf = bpf;
	clock->sideband = sideband;
	clock->wakes =
		ring_buffer__new(bpf_map__fd(bpf->skeleton->maps.wakes), ignore, clock, NULL);
	if (!clock->wakes)
		return -errno;
	err = uv_poll_init(loop, &clock->poll, ring_buffer__epoll_fd(clock->wakes));
	if (err)
		return err;
	uv_timer_init(loop, &clock->timer);
	clock->poll.data = clock->timer.data = clock;
	clock->started = true;
	clock->regular_ms = REGULAR_MS;
	arm(clock);
	return uv_poll_start(&clock->poll, UV_READABLE, on_woken);
}

void sideband_clock_stop(struct sideband_clock *clock)
{
	if (!clock->started)
		return;
	uv_close((uv_handle_t *)&clock->poll, NULL);
	uv_close((uv_handle_t *)&clock->timer, NULL);
	clock->started = false;
}

void sideband_clock_release(struct sideband_clock *clock)
{
	ring_buffer__free(clock->wakes);
	*clock = (struct sideband_clock){0};
}
