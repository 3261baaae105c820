/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct half - one drained half of the kernel's maps, which becomes a slice for each kind of
 * profile: every address a place in a binary, every Python frame a line, every task a name, while
 * the processes still live. Pure but for the process table, which may look into /proc. Loop thread
 * only.
 */
#pragma once

#include "base/crew.h"
#include "collect/bpf.h"
#include "collect/stacks.h"
#include "interp/python_codes.h"
#include "interp/python_threads.h"
#include "interp/pythons.h"
#include "proc/proc.h"
#include "profile/profile.h"

/* When the half was the active one. */
struct drain_span {
	uint64_t start_mono_ns, end_mono_ns;
	uint64_t start_wall_ns;
};

/* What is known of the processes that were sampled. */
struct drain_tables {
	struct procs *procs;
	struct store *store;
	struct crew *crew;     /* NULL: what belongs to others is read at once */
	const uint64_t *execs; /* as bpf/execs.h has them */
	/* Each NULL where nothing is known of Python. */
	const struct pythons *pythons;
	struct python_codes *codes;
	struct python_threads *threads;
	u64 *codes_told; /* PYTHON_SENT of them, shared with the kernel half */
};

/* What went wrong on the way; added to. */
struct drain_losses {
	uint64_t samples_lost_in_drain, frames_unmapped, frames_without_stack, images_missing;
	uint64_t python_codes_unknown, python_words_misplaced;
};

struct half {
	const struct drained *drained;
	struct drain_span span;
	const struct drain_tables *tables;
	struct drain_losses *losses;
	struct stack_index index; /* of its stacks; drain_slices() builds and releases it */
};

struct source_state;

/* States and slices by enum profile_kind. 0, or -ENOMEM: then slices that could not be made are
 * NULL, and their samples counted as lost. */
int drain_slices(struct half *half, struct source_state *states,
                 struct profile *ret_slices[KIND_COUNT]);
/* One of them, where the index has been built. */
int drain_slice(struct half *half, struct source_state *state, struct profile **ret_slice);
/* Adds what the kernel counted, and what became of it here; collect/counters.c. */
struct collector_stats;
void collector_stats_add(struct collector_stats *stats, const struct drained *drained,
                         const struct drain_losses *losses);
