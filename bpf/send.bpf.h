/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An event with the stack behind it that was walked in a lane's scratch.
 */
#pragma once

#include "bpf/maps.bpf.h"

/* Words that an event can have behind it. */
static __always_inline u32 words_to_send(u32 walked)
{
	return walked > SCRATCH_FRAMES ? SCRATCH_FRAMES : walked;
}

/* `out` begins with the event, of `event_bytes`, and has room for SCRATCH_FRAMES words behind it.
 * Both this and `ring` are constants where it is called. The compiler must not know what the bytes
 * are compared with, or it leaves out what the verifier wants to see. Not 0 when it could not be
 * told. */
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
