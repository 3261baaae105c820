/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Static probes of libprofd-cuda.so (daemon/cuda_helper/README.md): a launch was made, or kernels
 * of a launch have run. A thread hits them some hundred times a second.
 */
#pragma once

#include "bpf/gpu/gpu_send.bpf.h"
#include "bpf/static_probe.bpf.h"

_Static_assert(GPU_NAME_BYTES <= SCRATCH_FRAMES * sizeof(u64), "room for a name");

/* A hit of a probe. The registers are in the lane's scratch. */
struct gpu_passed {
	const struct static_site *site;
	const struct scratch *scratch;
	u32 lane;
};

static __always_inline u64 passed_argument(const struct gpu_passed *passed, u32 number)
{
	return static_argument(passed->scratch, &passed->site->args[number]);
}

/* launched(correlation): the stack is that of the launch. */
static __always_inline void tell_launched(const struct gpu_passed *passed)
{
	u32 place = user_place();
	struct ring_user *user = user_with_room(place);
	struct gpu_event event;

	if (!user)
		return;
	describe(&event, GPU_EVENT_LAUNCHED, GPU_LAYER_HELPER, passed_argument(passed, 0));
	event.time_ns = bpf_ktime_get_ns();
	event.account = place;
	send_walked(user, passed->lane, passed->scratch->regs[REG_PC], &event);
}

/* Sends the event followed by the name; without it where the name cannot be read. */
static __always_inline long send_named(struct gpu_out *out, u64 name)
{
	long len = bpf_probe_read_user_str(out->words, GPU_NAME_BYTES, (void *)name);
	u64 bytes = len > 1 && len <= GPU_NAME_BYTES ? len : 0;
	struct ring_user *user = user_with_room(out->event.account);

	if (!user)
		return -1;

	out->event.words = (bytes + sizeof(u64) - 1) / sizeof(u64);
	bytes = sizeof(out->event) + out->event.words * sizeof(u64);
	barrier_var(bytes);
	if (bytes > sizeof(*out))
		return count_sent(user, 0, -1);
	return count_sent(user, bytes, bpf_ringbuf_output(&gpu_events, out, bytes, wake_flags()));
}

/* ran(correlation, nanoseconds, device, name, weight, kernels) */
static __always_inline void tell_ran(const struct gpu_passed *passed)
{
	u32 zero = 0, at;
	struct gpu_out *out = bpf_map_lookup_elem(&gpu_outs, &zero);
	struct gpu_event *event;
	u64 now;

	if (!out)
		return;
	event = &out->event;
	describe(event, GPU_EVENT_RAN, GPU_LAYER_HELPER, passed_argument(passed, 0));
	event->size = passed_argument(passed, 1);
	event->device = passed_argument(passed, 2);
	event->allocated = passed_argument(passed, 4);
	event->reserved = passed_argument(passed, 5);
	event->account = user_place();
	at = shared_enter(&now);
	event->time_ns = now;
	count_sample(at, event, send_named(out, passed_argument(passed, 3)));
	shared_leave();
}

/* Handles a hit of a probe; `kind` is a constant. */
static __always_inline void gpu_usdt_passed(const volatile struct pt_regs *regs, u64 cookie,
                                            enum gpu_event_kind kind)
{
	u32 number = cookie;
	struct gpu_passed passed = {.site = bpf_map_lookup_elem(&static_sites, &number)};
	struct scratch *scratch;

	if (!passed.site)
		return;
	passed.lane = lane_enter(LANE_PROBE, bpf_ktime_get_ns());
	if (passed.lane == LANE_BUSY) {
		if (kind == GPU_EVENT_LAUNCHED)
			GPU_ADD(stacks_busy);
		else
			GPU_ADD(events_lost);
		return;
	}
	scratch = scratch_get(passed.lane);
	if (scratch) {
		regs_by_number(scratch->regs, regs);
		passed.scratch = scratch;
		if (kind == GPU_EVENT_LAUNCHED)
			tell_launched(&passed);
		else
			tell_ran(&passed);
	}
	lane_leave(passed.lane);
}
