/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half is loaded in parts. What CPU time needs is loaded at the start. Any other part is
 * loaded when it is first needed, because the verifier takes a tenth to half a second for a part,
 * and because its maps take kernel memory that most hosts never use. A loaded part stays loaded.
 *
 * A part is the same BPF object opened once more, with its own programs only. It uses the maps and
 * variables that exist already, and makes the maps that were not needed until now.
 */
#pragma once

#include "kernel/bpf.h"

/* PART(name, what): `what` is for users. */
#define BPF_PART_LIST(PART)                                     \
	PART(SWITCHES, "late ticks")                            \
	PART(RUN_TIMES, "run times of threads")                 \
	PART(WAITS, "waits")                                    \
	PART(GROWTH, "growth of memory")                        \
	PART(GROWTH_CLOSELY, "growth of memory (growth = yes)") \
	PART(FAULTS, "page faults")                             \
	PART(HEAP, "heap profiles")                             \
	PART(HEAP_TOLD, "standing heaps")                       \
	PART(GPU, "GPUs")                                       \
	PART(GPU_TOLD, "durations of GPU kernels")

#define PART(name, what) BPF_PART_##name,
enum bpf_part { BPF_PART_LIST(PART) BPF_PARTS };
#undef PART

/* Configures the programs of a part before they are loaded; NULL if there is nothing to
 * configure. */
typedef void bpf_prepare_fn(struct profd_bpf *skeleton);

/* Loads a part. If that was tried before, returns the earlier result. 0 or a negative errno. Any
 * thread but the loop's, because it takes as long as the verifier does. */
int bpf_part_load(struct bpf *bpf, enum bpf_part part, bpf_prepare_fn *prepare);
/* The programs of a part and all maps that they use; NULL until the part is loaded. Any thread. */
const struct profd_bpf *bpf_part(const struct bpf *bpf, enum bpf_part part);
/* Attaches what is loaded for the scheduler's switches: the program for late ticks, or that for
 * waits, which takes late ticks as well. 0 or a negative errno. Loop thread only. */
int bpf_watch_switches(struct bpf *bpf);
void bpf_unwatch_switches(struct bpf *bpf);
/* Why a part could not be loaded, as one line for the user; "" if it is loaded or was not tried.
 * Any thread. */
const char *bpf_part_why(const struct bpf *bpf, enum bpf_part part);
