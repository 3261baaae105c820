/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loading the kernel half: opened, sized, configured by all sources, loaded. Nothing is attached
 * yet. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/source.h"

/* What is needed at the start; the other parts are loaded by whoever needs them first. `states` are
 * KIND_COUNT of them, zero before. `unwind_bytes` is what unwind tables may take. On failure
 * `ret_why` is one line for a person; bpf_release() also then. */
int load_kernel_half(struct bpf *bpf, struct source_state *states,
                     const struct source_config *config, size_t unwind_bytes, char ret_why[256]);
/* After that: every part that there is. */
int load_all_parts(struct bpf *bpf, char ret_why[256]);
