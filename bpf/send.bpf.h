/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends an event followed by the stack that was walked in a lane's scratch.
 */
#pragma once

#include "bpf/maps.bpf.h"

/* The number of words that can be sent behind an event. */
static __always_inline u32 words_to_send(u32 walked)
{
	return walked > SCRATCH_FRAMES ? SCRATCH_FRAMES : walked;
}

/* `out` begins with the event, of `event_bytes`, and has room for SCRATCH_FRAMES words behind it.
 * Both `event_bytes` and `ring` are constants where this is called. The compiler must not know what
 * the number of bytes is compared with, or it leaves out the comparison that the verifier needs.
 * Returns non-zero when the event could not be sent. */
static __always_inline long send_with_words(void *ring, void *out, u32 event_bytes,
                                            const struct scratch *scratch, u32 words, u64 flags)
{
	u64 bytes = words * sizeof(u64);

	barrier_var(bytes);
	if (bytes > sizeof(scratch->frames) ||
	    bpf_probe_read_kernel(out + event_bytes, bytes, scratch->frames))
		return -1;
	bytes += event_bytes;
	barrier_var(bytes);
	if (bytes > event_bytes + sizeof(scratch->frames))
		return -1;
	return bpf_ringbuf_output(ring, out, bytes, flags);
}
