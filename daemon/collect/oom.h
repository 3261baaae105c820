/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct oom - hears of each process that the kernel kills for lack of memory, at that moment.
 * Where the kernel cannot tell, it is off and says why; the rest goes on. Loop thread only.
 */
#pragma once

#include "bpf/oom.h"
#include "collect/bpf.h"
#include "memory/figures.h"

#include <uv.h>

struct ring_buffer;

/* Who is killed; `figures` are what it held, MEMORY_UNKNOWN where the kernel did not say. */
struct oom_kill {
	u32 pid;
	u32 user;                  /* as the kernel half says */
	char comm[OOM_COMM_BYTES]; /* "": not known */
	struct memory_figures figures;
};

typedef void oom_fn(const struct oom_kill *kill, void *ctx);

struct oom {
	struct bpf *bpf;
	oom_fn *fn;
	void *ctx;
	struct bpf_link *link;
	struct ring_buffer *ring;
	uv_poll_t poll;
	bool polling;
	char why[128]; /* it is off; "" when it is on */
};

/* After bpf_load(); `oom` is zero before. */
void oom_start(struct oom *oom, struct bpf *bpf, uv_loop_t *loop, oom_fn *fn, void *ctx);
/* Started or not; oom_release() after the loop has run out. */
void oom_stop(struct oom *oom);
void oom_release(struct oom *oom);
/* Kills that were not heard of because too many came at once. */
u64 oom_lost(const struct oom *oom);
