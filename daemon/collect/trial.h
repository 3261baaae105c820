/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct trial - the kernel half loaded and attached as the daemon does it, by the same functions,
 * and taken away again: what this host lets us do, rather than what its version promises. It takes
 * as long as a start, samples nothing that anybody sees, and leaves nothing behind. Its unwind
 * tables are small, for it may run beside a daemon. Any thread that has no event loop.
 */
#pragma once

#include "collect/bpf_features.h"
#include "collect/source.h"
#include "heap/price.h"

struct trial_part {
	bool tried; /* false: what it needs is missing already */
	int err;
	char why[256]; /* for a person; "" when there is nothing but `err` */
};

struct trial {
	struct trial_part programs; /* they load */
	struct trial_part sources[KIND_COUNT];
	struct trial_part process_events; /* forks, execs, mappings: the side-band */
	struct trial_part exec;
	struct trial_part kills; /* for lack of memory */
	struct trial_part probes;
	const char *event; /* of the sampling timer */
	u32 cpus_online;
	bool multi_probes;   /* many places at once */
	bool probe_sessions; /* entry and return at once */
	struct heap_price price;
	struct bpf_features features[BPF_FEATURE_KINDS];
};

/* `may_load`: whether it is worth asking the kernel what lacks when the programs do not load. */
void trial_run(struct trial *ret_trial, u32 sample_hz, bool may_load);
void trial_release(struct trial *trial);
