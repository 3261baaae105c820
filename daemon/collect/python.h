/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python - connects the kernel half and the daemon for CPython: the daemon describes
 * processes that run it in a map, and the kernel half sends code objects that it met through a ring
 * buffer. Loop thread only.
 */
#pragma once

#include "interp/python_codes.h"
#include "interp/python_threads.h"
#include "interp/pythons.h"
#include "kernel/bpf.h"

#include <stdbool.h>
#include <uv.h>

struct ring_buffer;

struct python {
	struct bpf *bpf;
	struct pythons *pythons;
	struct python_codes *codes;
	struct python_threads *threads;
	u64 *codes_told; /* PYTHON_SENT of them: signatures that the kernel half has reported */
	struct ring_buffer *ring;
	size_t bytes_read; /* from the ring, by one python_read() */
	uv_poll_t poll;
	bool polling;
};

struct python_tables {
	struct procs *procs;
	struct store *store;
	struct crew *crew;     /* reads processes' memory */
	const uint64_t *execs; /* see bpf/execs.h */
};

/* Call after bpf_load(); `python` is zero before. Call python_release() even after a failure. */
int python_open(struct python *python, struct bpf *bpf, uv_loop_t *loop,
                const struct python_tables *tables);
/* Begins to read the ring buffer whenever it has records, so that there is always room. */
int python_start(struct python *python, uv_loop_t *loop);
/* Reads everything that has come up until now. Call before a drain, because a code object is
 * reported before the first sample that names it is added. */
void python_read(struct python *python);
/* Call whether or not it was started; call python_release() after the loop has ended. */
void python_stop(struct python *python);
void python_release(struct python *python);
