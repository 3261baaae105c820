/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes through the socket between the daemon and the names process, in both directions. Both
 * are the same program on the same machine, so numbers go as they are in memory; but neither
 * believes the other: lengths are bounded and checked, and what does not parse ends the connection.
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/cleanup.h"
#include "names/source_frame.h"

#include <stdbool.h>

enum {
	WIRE_MAX_ADDRESSES = 1 << 14, /* of one request: an answer is put together in memory */
	WIRE_MAX_ANSWER = 64 << 20,   /* bytes */
};

/* A request: this header, then `count` addresses. With the first byte of the header come the
 * descriptors whose bit is set in `fds`, in the order of their numbers, as SCM_RIGHTS; whether the
 * file is open already is the names process's business. */
struct wire_request {
	uint64_t file;
	uint32_t count;
	uint8_t fds;   /* bit FILE_... */
	uint8_t lines; /* bool */
	uint8_t unused[2];
};

/* An answer: this header, then `len` bytes: strings and frames as wire_frames_add() makes them; 0
 * bytes with an error. The first one comes unasked and without bytes: it says that the process is
 * confined, or why it could not be. */
struct wire_answer {
	int32_t error; /* 0 or negative errno */
	uint32_t unused;
	uint64_t len;
};

struct wire_frames; /* an answer under way: strings are written once */

struct wire_frames *wire_frames_new(void);
void wire_frames_free(struct wire_frames *frames);
DEFINE_CLEANUP(struct wire_frames *, wire_frames_free)
/* -EINVAL when indices descend or an address has more than MAX_INLINE_DEPTH frames, -E2BIG when the
 * answer would be too long, -ENOMEM. Names and paths are cut at their limits in base/bounds.h. */
int wire_frames_add(struct wire_frames *frames, size_t index, const struct source_frame *frame);
/* Appends the answer's bytes. */
int wire_frames_write(struct wire_frames *frames, struct buf *out);
/* Calls fn for each frame of an answer's bytes to a request of `count` addresses, once all of them
 * have been checked: indices ascend, strings end inside. -EBADMSG, or what fn returned. `fn` may be
 * NULL, to check only. */
int wire_frames_read(const uint8_t *bytes, size_t len, size_t count, source_frame_fn *fn,
                     void *ctx);
