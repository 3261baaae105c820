/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stage - the loaded kernel half and its probes in the functions of driver.so, for this
 * process only, with the counts and events that result. Root only. One thread.
 */
#pragma once

#include "kernel/bpf.h"
#include "kernel/gpu_kernel.h"
#include "kernel/uprobes.h"

struct ring_buffer;

/* A function, and the cookie of its probe. */
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

/* stage_read() calls `told`. Returns 0, or a negative errno after a line on stderr. */
int stage_open(struct stage *stage, void (*told)(const struct gpu_event *event, void *ctx),
               void *ctx);
/* Detaches all probes and attaches these: as sessions, or as entries and returns. */
int stage_attach(struct stage *stage, const struct stage_site *sites, size_t count, int sessions);
/* Attaches a program of the caller instead of the kernel half's; all sites are entries. */
int stage_attach_program(struct stage *stage, int program, const struct stage_site *sites,
                         size_t count);
void stage_detach(struct stage *stage);
/* Drains the half; the result is valid until the next drain. */
void stage_drain(struct stage *stage, struct drained *ret_drained);
void stage_read(struct stage *stage);
void stage_close(struct stage *stage);
