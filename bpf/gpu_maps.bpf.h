/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What watching GPUs keeps that all of its programs share.
 */
#pragma once

#include "bpf/gpu.h"
#include "bpf/maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, GPU_EVENT_BYTES);
} gpu_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct gpu_counts);
	__uint(max_entries, 1);
} gpu_counts SEC(".maps");
