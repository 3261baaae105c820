/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One drained half of the kernel's maps becomes one slice: every address a place in a binary, every
 * task a name, while the processes still live. Pure but for the process table, which may look into
 * /proc. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"
#include "proc/proc.h"
#include "profile/profile.h"

/* When the half was the active one. */
struct drain_span {
	uint64_t start_mono_ns, end_mono_ns;
	uint64_t start_wall_ns;
	uint64_t period_ns; /* of one tick */
};

/* What went wrong on the way; added to. */
struct drain_losses {
	uint64_t samples_lost_in_drain, frames_unmapped, frames_without_stack, images_missing;
};

/* 0, or -ENOMEM: then every sample of the half is counted as lost. */
int drain_slice(const struct drained *drained, const struct drain_span *span, struct procs *procs,
                struct store *store, struct drain_losses *losses, struct profile **ret_slice);
