/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The encoding of questions about names and of their answers. Neither side trusts the bytes: an
 * answer that does not parse is no answer. reader/wire.h describes how they are transferred. Pure;
 * any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/cleanup.h"
#include "names/source_frame.h"

#include <stdbool.h>

enum {
	WIRE_MAX_ADDRESSES = 1 << 14, /* of one question, because the answer is built in memory */
	WIRE_MAX_ANSWER = 64 << 20,   /* bytes */
};

/* A question: this, then ascending addresses. The process keeps track of which files are open. */
struct wire_query {
	uint64_t file;
};

/* An answer: strings and frames as wire_frames_add() makes them. */
struct wire_frames; /* an answer that is being built; each string is written once */

struct wire_frames *wire_frames_new(void);
void wire_frames_free(struct wire_frames *frames);
DEFINE_CLEANUP(struct wire_frames *, wire_frames_free)
/* -EINVAL when indices descend or an address has more than MAX_INLINE_DEPTH frames, -E2BIG when the
 * answer would be too long, -ENOMEM. Names and paths are truncated to their limits in
 * base/bounds.h. */
int wire_frames_add(struct wire_frames *frames, size_t index, const struct source_frame *frame);
/* Appends the bytes of the answer. */
int wire_frames_write(struct wire_frames *frames, struct buf *out);
/* Calls fn for each frame of an answer to a question with `count` addresses, once all of the answer
 * was checked: indices ascend, strings end inside the answer. -EBADMSG, or what fn returned. `fn`
 * may be NULL, to check only. */
int wire_frames_read(const uint8_t *bytes, size_t len, size_t count, source_frame_fn *fn,
                     void *ctx);
