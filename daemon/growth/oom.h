/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct oom - receives each kill of a process for lack of memory from the kernel, at the moment of
 * the kill. If the kernel cannot report kills, this is off and says why; the rest of the daemon
 * goes on. Loop thread only.
 */
#pragma once

#include "bpf/oom.h"
#include "kernel/bpf.h"
#include "memory/figures.h"

#include <uv.h>

struct ring_buffer;

/* A killed process. `figures` are what it held; MEMORY_UNKNOWN where the kernel did not report
 * them. */
struct oom_kill {
	u32 pid;
	u32 user;                  /* as in struct oom_victim */
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
	char why[128]; /* why it is off; "" when it is on */
};

/* Call after bpf_load(); `oom` is zero before. */
void oom_start(struct oom *oom, struct bpf *bpf, uv_loop_t *loop, oom_fn *fn, void *ctx);
/* Call whether or not it was started; call oom_release() after the loop has ended. */
void oom_stop(struct oom *oom);
void oom_release(struct oom *oom);
/* Number of kills that were not received because too many came at once. */
u64 oom_lost(const struct oom *oom);
