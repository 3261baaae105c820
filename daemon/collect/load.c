/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The order in which the kernel half is opened, sized, configured and loaded.
 */
#include "collect/load.h"

#include "base/cleanup.h"
#include "kernel/bpf_parts.h"
#include "kernel/gpu_kernel.h"
#include "kernel/growth_kernel.h"
#include "kernel/heap_kernel.h"
#include "kernel/perf.h"
#include "kernel/unwind_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int load_kernel_half(struct bpf *bpf, struct source_state *states,
                     const struct source_config *config, size_t unwind_bytes, char ret_why[256])
{
	_cleanup_free_ bool *online = calloc(MAX_CPUS, sizeof(*online));
	uint32_t online_count = 0;
	int err = online ? cpulist_online(online, MAX_CPUS) : -ENOMEM;

	if (err) {
		snprintf(ret_why, 256, "cannot read which CPUs are online: %s", strerror(-err));
		return err;
	}
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
		online_count += online[cpu];
	err = bpf_open(bpf, online_count, config->sample_hz,
	               (config->growth.at_any_price ? 2 : 1) + (config->waits ? 5 : 0) +
	                       config->faults,
	               ret_why);
	if (err)
		return err;
	err = unwind_maps_size(bpf, unwind_bytes);
	if (err) {
		snprintf(ret_why, 256, "cannot size the unwind tables: %s", strerror(-err));
		return err;
	}
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		states[kind].kind = (enum profile_kind)kind;
		sources[kind]->configure(bpf, config, &states[kind]);
	}
	return bpf_load(bpf, ret_why);
}

static int load_part(struct bpf *bpf, enum bpf_part part)
{
	const struct heap_kernel heaps = {.bpf = bpf};
	const struct gpu_kernel gpus = {.bpf = bpf};
	struct heap_programs heap_programs;
	struct heap_told_programs heap_told;
	struct gpu_programs gpu_programs;
	struct gpu_told_programs gpu_told;

	switch (part) {
	case BPF_PART_SWITCHES:
	case BPF_PART_RUN_TIMES:
	case BPF_PART_WAITS:
	case BPF_PART_FAULTS:
		return bpf_part_load(bpf, part, NULL);
	case BPF_PART_GROWTH:
		return growth_kernel_load(bpf, &(struct growth_wanted){true, false});
	case BPF_PART_GROWTH_CLOSELY:
		return growth_kernel_load(bpf, &(struct growth_wanted){true, true});
	case BPF_PART_HEAP:
		return heap_kernel_load(&heaps, &heap_programs);
	case BPF_PART_HEAP_TOLD:
		return heap_kernel_load_told(&heaps, &heap_told);
	case BPF_PART_GPU:
		return gpu_kernel_load(&gpus, &gpu_programs);
	case BPF_PART_GPU_TOLD:
		return gpu_kernel_load_told(&gpus, &gpu_told);
	default:
		return -EINVAL;
	}
}

int load_all_parts(struct bpf *bpf, char ret_why[256])
{
	for (int part = 0; part < BPF_PARTS; part++) {
		int err = load_part(bpf, (enum bpf_part)part);

		if (err) {
			snprintf(ret_why, 256, "%s", bpf_part_why(bpf, (enum bpf_part)part));
			return err;
		}
	}
	return 0;
}
