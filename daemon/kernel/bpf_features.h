/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel features that the kernel half needs: types of programs and maps, and helpers. They are
 * found in the programs themselves, so the list always matches what the programs use. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "kernel/bpf.h"

enum bpf_feature_kind {
	BPF_FEATURE_PROGRAM_TYPES,
	BPF_FEATURE_MAP_TYPES,
	BPF_FEATURE_HELPERS,
	BPF_FEATURE_KINDS,
};

/* Names separated by ", ". */
struct bpf_features {
	struct buf used;
	struct buf lacking; /* those of `used` that the kernel lacks; "" if it was not asked */
};

/* Call after bpf_load(), whether or not it succeeded. `look` asks the kernel about each feature by
 * loading trivial programs and making small maps, which requires CAP_BPF and CAP_PERFMON. */
void bpf_features_find(const struct bpf *bpf, bool look,
                       struct bpf_features ret_features[BPF_FEATURE_KINDS]);
void bpf_features_release(struct bpf_features features[BPF_FEATURE_KINDS]);
