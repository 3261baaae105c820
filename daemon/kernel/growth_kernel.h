/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half of memory growth: the programs of type=rss and type=mmap, as far as they are
 * wanted.
 */
#pragma once

#include "kernel/bpf.h"
#include "kernel/growth_wanted.h"

struct bpf_program;

/* Loads the programs. 0 or a negative errno. Not on the loop thread. */
int growth_kernel_load(struct bpf *bpf, const struct growth_wanted *wanted);
/* Why the programs could not be loaded; "" if they are loaded or were not tried. */
const char *growth_kernel_why(const struct bpf *bpf, const struct growth_wanted *wanted);

struct growth_programs {
	struct bpf_program *taken, *arrives, *mapped_pages,
		*changed;           /* type=rss, of bpf/growth/rss.bpf.c */
	struct bpf_program *mapped; /* type=mmap */
};

/* Gets the programs; false if they are not loaded. Then `ret_why` says why not yet, or why not at
 * all. Any thread. */
bool growth_kernel_programs(const struct bpf *bpf, const struct growth_wanted *wanted,
                            struct growth_programs *ret_programs, char ret_why[128]);
