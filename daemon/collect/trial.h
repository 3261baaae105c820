/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct trial - loads and attaches the kernel half by the same functions as the daemon, and
 * removes it again. So it shows what this host allows, rather than what its version promises. It
 * takes as long as a start, delivers no samples, and leaves nothing behind. Its unwind tables are
 * small, because it may run beside a daemon. Any thread that has no event loop.
 */
#pragma once

#include "allocators/price.h"
#include "ingest/source.h"
#include "kernel/bpf_features.h"

struct trial_part {
	bool tried; /* false: something that it needs is missing */
	int err;
	char why[256]; /* for the user; "" if there is nothing but `err` */
};

struct trial {
	struct trial_part programs; /* loading the programs */
	struct trial_part sources[KIND_COUNT];
	struct trial_part process_events; /* forks, execs, mappings: the side-band */
	struct trial_part exec;
	struct trial_part kills; /* events of kills for lack of memory */
	struct trial_part probes;
	const char *event; /* of the sampling timer */
	u32 cpus_online;
	bool multi_probes;   /* one call probes many places */
	bool probe_sessions; /* one probe covers entry and return */
	struct heap_price price;
	struct bpf_features features[BPF_FEATURE_KINDS];
};

/* `may_load`: whether to ask the kernel which features it lacks if the programs do not load. */
void trial_run(struct trial *ret_trial, u32 sample_hz, bool may_load);
void trial_release(struct trial *trial);
