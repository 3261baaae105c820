/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python - joins the halves of what is known of CPython: which processes run it goes down
 * into a map, the code objects that were met come up through a ring buffer. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"
#include "interp/python_codes.h"
#include "interp/python_threads.h"
#include "interp/pythons.h"

#include <stdbool.h>
#include <uv.h>

struct ring_buffer;

struct python {
	struct bpf *bpf;
	struct pythons *pythons;
	struct python_codes *codes;
	struct python_threads *threads;
	u64 *codes_told; /* PYTHON_SENT of them: what the kernel half has told, by signature */
	struct ring_buffer *ring;
	size_t bytes_read; /* of the ring, by one python_read() */
	uv_poll_t poll;
	bool polling;
};

struct python_tables {
	struct procs *procs;
	struct store *store;
	struct crew *crew;     /* that reads memory */
	const uint64_t *execs; /* as bpf/execs.h has them */
};

/* After bpf_load(); python_release() even after a failure. `python` is zero before. */
int python_open(struct python *python, struct bpf *bpf, uv_loop_t *loop,
                const struct python_tables *tables);
/* Reads what comes up as it comes, so that there is always room. */
int python_start(struct python *python, uv_loop_t *loop);
/* Takes all that has come up until now: before a drain, because a code object is told before the
 * first sample that names it is added. */
void python_read(struct python *python);
/* Started or not; python_release() after the loop has run out. */
void python_stop(struct python *python);
void python_release(struct python *python);
