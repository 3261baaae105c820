/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the growth of memory has in the kernel: the programs of type=rss and type=mmap, as far as
 * they are wanted.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/growth_wanted.h"

struct bpf_program;

/* 0 or a negative errno. Not on the loop thread. */
int growth_kernel_load(struct bpf *bpf, const struct growth_wanted *wanted);
/* Why they could not be loaded; "" where they were, or were not tried. */
const char *growth_kernel_why(const struct bpf *bpf, const struct growth_wanted *wanted);

struct growth_programs {
	struct bpf_program *taken, *arrives, *mapped_pages,
		*changed;           /* type=rss, of bpf/rss.bpf.c */
	struct bpf_program *mapped; /* type=mmap */
};

/* Whether they are loaded; if not, why not yet, or why not at all. Any thread. */
bool growth_kernel_programs(const struct bpf *bpf, const struct growth_wanted *wanted,
                            struct growth_programs *ret_programs, char ret_why[128]);
