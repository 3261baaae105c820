/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One drained half of the kernel's maps becomes a slice for each kind of profile: every address a
 * place in a binary, every Python frame a line, every task a name, while the processes still live.
 * Pure but for the process table, which may look into /proc. Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "collect/bpf.h"
#include "interp/python_codes.h"
#include "interp/python_threads.h"
#include "interp/pythons.h"
#include "proc/proc.h"
#include "profile/profile.h"

/* When the half was the active one. */
struct drain_span {
	uint64_t start_mono_ns, end_mono_ns;
	uint64_t start_wall_ns;
	uint64_t periods[KIND_COUNT]; /* of each kind's samples */
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

/* By enum profile_kind; those of gpu_has_kind() are left NULL. 0, or -ENOMEM: then slices that
 * could not be made are NULL, and their samples counted as lost. */
int drain_slices(const struct drained *drained, const struct drain_span *span,
                 const struct drain_tables *tables, struct drain_losses *losses,
                 struct profile *ret_slices[KIND_COUNT]);
/* Adds what the kernel counted, and what became of it here; collect/counters.c. */
struct collector_stats;
void collector_stats_add(struct collector_stats *stats, const struct drained *drained,
                         const struct drain_losses *losses);
