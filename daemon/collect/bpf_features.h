/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel half asks of the kernel: types of programs and maps, and helpers. Found in the
 * programs themselves, so that this is never another list than what they use. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "collect/bpf.h"

enum bpf_feature_kind {
	BPF_FEATURE_PROGRAM_TYPES,
	BPF_FEATURE_MAP_TYPES,
	BPF_FEATURE_HELPERS,
	BPF_FEATURE_KINDS,
};

/* Names separated by ", ". */
struct bpf_features {
	struct buf used;
	struct buf lacking; /* of those; "" when not looked for */
};

/* After bpf_load(), well or not. `look` asks the kernel about each, by loading trivial programs and
 * making small maps, which takes CAP_BPF and CAP_PERFMON. */
void bpf_features_find(const struct bpf *bpf, bool look,
                       struct bpf_features ret_features[BPF_FEATURE_KINDS]);
void bpf_features_release(struct bpf_features features[BPF_FEATURE_KINDS]);
