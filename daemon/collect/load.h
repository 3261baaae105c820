/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads the kernel half: opens it, sizes it, lets all sources configure it, and loads it. Attaches
 * nothing. Loop thread only.
 */
#pragma once

#include "ingest/source.h"
#include "kernel/bpf.h"

/* Loads what the start needs. Other parts are loaded when they are first needed. `states` has
 * KIND_COUNT entries, which are zero before. `unwind_bytes` bounds the memory of unwind tables. On
 * failure `ret_why` is one line for the user; call bpf_release() also then. */
int load_kernel_half(struct bpf *bpf, struct source_state *states,
                     const struct source_config *config, size_t unwind_bytes, char ret_why[256]);
/* Loads all other parts. Call after load_kernel_half(). */
int load_all_parts(struct bpf *bpf, char ret_why[256]);
