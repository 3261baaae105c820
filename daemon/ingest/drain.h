/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct half - one drained half of the kernel's maps, which becomes a slice for each kind of
 * profile. Addresses become places in binaries, interpreted frames become lines, and tasks get
 * names, while the processes still live. Pure but for the process table, which may read /proc. Loop
 * thread only.
 */
#pragma once

#include "base/crew.h"
#include "ingest/stacks.h"
#include "jit/jit.h"
#include "kernel/bpf.h"
#include "proc/proc.h"
#include "profile/profile.h"
#include "runtimes/runtimes.h"

/* By enum counter. */
extern const char *const counter_names[COUNTER_COUNT];
extern const char *const counter_help[COUNTER_COUNT];

/* When the half was active. */
struct drain_span {
	uint64_t start_mono_ns, end_mono_ns;
	uint64_t start_wall_ns;
};

/* What is known about the processes that were sampled. */
struct drain_tables {
	struct procs *procs;
	struct store *store;
	struct crew *crew;         /* NULL: processes' files and memory are read at once */
	const uint64_t *execs;     /* see bpf/execs.h */
	struct runtimes *runtimes; /* NULL: none */
	struct jit *jit;           /* NULL: generated code has no names */
};

/* Counts of what went wrong. The functions below add to them. */
struct drain_losses {
	uint64_t samples_lost_in_drain, frames_unmapped, frames_without_stack, images_missing;
	uint64_t codes_unknown, words_misplaced; /* of interpreted frames */
};

struct half {
	const struct drained *drained;
	struct drain_span span;
	const struct drain_tables *tables;
	struct drain_losses *losses;
	struct stack_index index; /* of its stacks; drain_slices() builds and releases it */
};

struct source_state;

/* Makes a slice of each kind. `states` and `ret_slices` are indexed by enum profile_kind. 0 or
 * -ENOMEM: slices that could not be made are then NULL, and their samples are counted as lost. */
int drain_slices(struct half *half, struct source_state *states,
                 struct profile *ret_slices[KIND_COUNT]);
/* Makes one slice. The half's index must have been built. */
int drain_slice(struct half *half, struct source_state *state, struct profile **ret_slice);
