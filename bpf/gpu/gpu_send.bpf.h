/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends events to the daemon, some with a stack, some with a name. Events that are samples of a
 * profile are counted in the half that contains their time, so that counts and events agree
 * whenever they are read: a slice of [start, end) contains the ALLOC and RAN events of that time,
 * and all of them are in the ring buffer once the half has settled.
 */
#pragma once

#include "bpf/gpu/gpu_walk.bpf.h"
#include "bpf/send.bpf.h"

enum {
	GPU_WALKED_BYTES = 1 << 20, /* an allocation of this size or more is always walked */
	GPU_EVENTS_MANY = 100,      /* other stacks of a thread in a tenth of a second */
	GPU_EVENTS_FEW = 25,
	/* The daemon reads at fixed times, but at once when this many bytes are unread. The events
	 * of the next GPU_WAKES_FOR bytes wake it, and not all events from there on: that would
	 * cost more than all the rest. */
	GPU_WAKES_AT = GPU_EVENT_BYTES / 8,
	GPU_WAKES_FOR = 64 << 10,
};

static __always_inline u64 wake_flags(void)
{
	u64 unread = bpf_ringbuf_query(&gpu_events, BPF_RB_AVAIL_DATA);

	return unread - GPU_WAKES_AT < GPU_WAKES_FOR ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void describe(struct gpu_event *event, u16 kind, enum gpu_layer layer,
                                     u64 address)
{
	u64 ids = bpf_get_current_pid_tgid();

	__builtin_memset(event, 0, sizeof(*event));
	event->address = address;
	event->pid = ids >> 32;
	event->tid = (u32)ids;
	event->image = task_image();
	event->kind = kind;
	event->layer = layer;
	event->device = GPU_DEVICE_UNKNOWN;
}

/* The ring_user of a place. If the share of its account is used up: NULL, and the lost event is
 * counted. */
static __always_inline struct ring_user *user_with_room(u32 place)
{
	struct ring_user *user = ring_user_at(&gpu_events, &gpu_users, GPU_EVENT_BYTES, place);

	if (!user)
		GPU_ADD(events_over_share);
	return user;
}

/* Accounts for an event of `bytes` that was sent, or lost if `err`. */
static __always_inline long count_sent(struct ring_user *user, u64 bytes, long err)
{
	if (err) {
		ring_user_lose(user);
		GPU_ADD(events_lost);
	} else {
		ring_user_charge(&gpu_events, user, bytes);
	}
	return err;
}

/* Sends an event with the stack walked from the registers in the lane's scratch; pc is an address
 * within the leaf's instruction. Returns non-zero when the event could not be sent, which is
 * counted. */
static __always_inline long send_walked(struct ring_user *user, u32 lane, u64 pc,
                                        const struct gpu_event *event)
{
	struct scratch *scratch = scratch_get(lane);
	u32 zero = 0, words;
	struct gpu_out *out = bpf_map_lookup_elem(&gpu_outs, &zero);
	long err;

	if (!scratch || !out)
		return count_sent(user, 0, -1);
	words = words_to_send(unwind_stack(lane, pc));
	GPU_ADD(walked);
	out->event = *event;
	out->event.words = words;
	err = send_with_words(&gpu_events, out, sizeof(out->event), scratch, words, wake_flags());
	return count_sent(user, sizeof(out->event) + words * sizeof(u64), err);
}

/* Sends an event; without its stack if another stack is being walked on this CPU. Returns non-zero
 * as above. */
static __always_inline long send(const struct gpu_event *event, const struct gpu_place *place,
                                 int is_walked)
{
	struct ring_user *user = user_with_room(user_place());
	u32 lane;
	u64 pc;
	long err;

	if (!user)
		return -1;
	if (is_walked) {
		lane = lane_enter(LANE_PROBE, event->time_ns);
		if (lane != LANE_BUSY) {
			pc = caller_registers(lane, place);
			err = pc ? send_walked(user, lane, pc, event) : -1;
			lane_leave(lane);
			if (pc)
				return err;
		} else {
			GPU_ADD(stacks_busy);
		}
	}
	err = bpf_ringbuf_output(&gpu_events, (void *)event, sizeof(*event), wake_flags());
	return count_sent(user, sizeof(*event), err);
}

static __always_inline int is_event_walked(struct gpu_thread *thread, const struct gpu_event *event)
{
	if (!thread || event->kind == GPU_EVENT_OOM || event->size >= GPU_WALKED_BYTES)
		return 1;
	if (thread->events.due) {
		thread->events.due--;
		return 0;
	}
	pace_next_of(&thread->events, event->time_ns, 1, GPU_EVENTS_MANY, GPU_EVENTS_FEW);
	return 1;
}

/* Counts an event that is a sample, or a sample lost for lack of room. */
static __always_inline void count_sample(u32 at, const struct gpu_event *event, long err)
{
	if (event->kind == GPU_EVENT_RAN)
		count_shared(at, err ? COUNTER_gpu_kernels_lost : COUNTER_gpu_kernels);
	else if (event->kind == GPU_EVENT_ALLOC && event->layer == GPU_LAYER_TENSOR)
		count_shared(at, err ? COUNTER_gpu_tensors_lost : COUNTER_gpu_tensors);
	else if (event->kind == GPU_EVENT_ALLOC)
		count_shared(at, err ? COUNTER_gpu_allocations_lost : COUNTER_gpu_allocations);
}

/* Sends an event that happens now, with the stack of the caller for an allocation or for one that
 * finds no room. A free is sent with the time that it has already. */
static __noinline void tell(struct gpu_thread *thread, struct gpu_event *event,
                            const struct gpu_place *place)
{
	u64 now;
	u32 at = shared_enter(&now);
	int is_walked = event->kind == GPU_EVENT_ALLOC || event->kind == GPU_EVENT_OOM;

	if (!event->time_ns)
		event->time_ns = now;
	if (is_walked)
		is_walked = is_event_walked(thread, event);
	count_sample(at, event, send(event, place, is_walked));
	shared_leave();
}

/* An event with a name, or the beginning of one. */
struct gpu_named {
	struct gpu_event event;
	char name[GPU_NAME_BYTES];
};

/* Sends `event` followed by the string at this address of user space, or with the address alone,
 * where the string is not in memory now: a program may not wait for a page, so the daemon reads it
 * later. */
static __always_inline void tell_name(const struct gpu_event *event, u64 string)
{
	struct ring_user *user = user_with_room(user_place());
	struct gpu_named *named;
	long len;

	if (!user)
		return;
	named = bpf_ringbuf_reserve(&gpu_events, sizeof(*named), 0);
	count_sent(user, sizeof(*named), named ? 0 : -1);
	if (!named)
		return;
	named->event = *event;
	len = bpf_probe_read_user_str(named->name, sizeof(named->name), (void *)string);
	if (len == 1) {
		GPU_ADD(unreadable);
		bpf_ringbuf_discard(named, BPF_RB_NO_WAKEUP);
		return;
	}
	if (len < 0) {
		named->event.size = string;
		named->event.reserved = task_began();
	} else {
		named->event.words = (len + sizeof(u64) - 1) / sizeof(u64);
	}
	bpf_ringbuf_submit(named, wake_flags());
}
