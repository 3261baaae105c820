/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stage - the kernel half loaded, and its probes in the functions of driver.so, for this
 * process only; what they counted and told. Root only. One thread.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/gpu_kernel.h"
#include "collect/uprobes.h"

struct ring_buffer;

/* A function, and what its probe is told. */
struct stage_site {
	void *function;
	union gpu_site_cookie site;
	int is_thunk; /* the probe is 10 bytes in */
};

struct stage {
	struct bpf bpf;
	struct gpu_kernel kernel;
	struct gpu_programs programs;
	struct uprobes uprobes;
	struct ring_buffer *ring;
	void (*told)(const struct gpu_event *event, void *ctx);
	void *ctx;
};

/* `told` is called by stage_read(). 0, or a negative errno, and a line on stderr. */
int stage_open(struct stage *stage, void (*told)(const struct gpu_event *event, void *ctx),
               void *ctx);
/* Detaches what is attached, and attaches these: by sessions, or by entries and returns. */
int stage_attach(struct stage *stage, const struct stage_site *sites, size_t count, int sessions);
/* A program of the caller's in the place of ours; all are entries. */
int stage_attach_program(struct stage *stage, int program, const struct stage_site *sites,
                         size_t count);
void stage_detach(struct stage *stage);
/* The half until now; valid until the next one. */
void stage_drain(struct stage *stage, struct drained *ret_drained);
void stage_read(struct stage *stage);
void stage_close(struct stage *stage);
