/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half is loaded in parts. What CPU time needs is loaded at the start; a part is loaded
 * when somebody first needs it, because the verifier takes a tenth to half a second for one, and
 * because its maps take kernel memory that most hosts never use. A part that is loaded stays.
 *
 * A part is the same object opened once more, with its own programs only. Maps and variables are
 * those that are there already; those that nobody needed until now are made.
 */
#pragma once

#include "collect/bpf.h"

/* PART(name, what): `what` is for people. */
#define BPF_PART_LIST(PART)                                           \
	PART(SWITCHES, "ticks that come late")                        \
	PART(RUN_TIMES, "how long threads have run")                  \
	PART(GROWTH, "growth of memory")                              \
	PART(GROWTH_CLOSELY, "growth of memory at any price")         \
	PART(HEAP, "heap profiles")                                   \
	PART(HEAP_TOLD, "programs that sample their own allocations") \
	PART(GPU, "GPUs")                                             \
	PART(GPU_TOLD, "programs that tell of their GPU kernels")

#define PART(name, what) BPF_PART_##name,
enum bpf_part { BPF_PART_LIST(PART) BPF_PARTS };
#undef PART

/* What must be said of its programs before they are loaded; NULL where that is nothing. */
typedef void bpf_prepare_fn(struct profd_bpf *skeleton);

/* Leaves all parts out of what is loaded at the start: between opening that and loading it. 0 or a
 * negative errno. */
int bpf_parts_defer(struct bpf *bpf);
/* Loads a part; if that has been tried, what came of it is said again. 0 or a negative errno. Any
 * thread but the loop's, for it takes as long as the verifier does. */
int bpf_part_load(struct bpf *bpf, enum bpf_part part, bpf_prepare_fn *prepare);
/* Its programs, and all maps that they use; NULL until it is loaded. Any thread. */
const struct profd_bpf *bpf_part(const struct bpf *bpf, enum bpf_part part);
/* Why it could not be loaded, in a line for a person; "" when it was, or was not tried. Any thread.
 */
const char *bpf_part_why(const struct bpf *bpf, enum bpf_part part);
/* Kernel memory of the maps that were made for parts. */
u64 bpf_parts_map_bytes(const struct bpf *bpf);
/* Once no thread loads any more. */
void bpf_parts_release(struct bpf *bpf);
