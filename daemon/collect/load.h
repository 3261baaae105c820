/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loading the kernel half: opened, sized, configured by all sources, loaded. Nothing is attached
 * yet. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/source.h"

/* `states` are KIND_COUNT of them, zero before. `unwind_bytes` is what unwind tables may take. On
 * failure `ret_why` is one line for a person; bpf_release() also then. */
int load_kernel_half(struct bpf *bpf, struct source_state *states, u32 sample_hz,
                     size_t unwind_bytes, char ret_why[256]);
