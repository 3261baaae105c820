/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The order in which the parts of the kernel half are told what they need to know before they are
 * loaded.
 */
#include "collect/load.h"

#include "base/cleanup.h"
#include "collect/gpu_kernel.h"
#include "collect/heap_kernel.h"
#include "collect/perf.h"
#include "collect/unwind_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int load_kernel_half(struct bpf *bpf, struct source_state *states, u32 sample_hz,
                     size_t unwind_bytes, char ret_why[256])
{
	const struct source_config config = {.sample_hz = sample_hz};
	_cleanup_free_ bool *online = calloc(MAX_CPUS, sizeof(*online));
	uint32_t online_count = 0;
	int err = online ? cpulist_online(online, MAX_CPUS) : -ENOMEM;

	if (err) {
		snprintf(ret_why, 256, "cannot read which CPUs are online: %s", strerror(-err));
		return err;
	}
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
		online_count += online[cpu];
	err = bpf_open(bpf, online_count, sample_hz, ret_why);
	if (err)
		return err;
	err = unwind_maps_size(bpf, unwind_bytes);
	if (err) {
		snprintf(ret_why, 256, "cannot size the unwind tables: %s", strerror(-err));
		return err;
	}
	for (int kind = 0; kind < KIND_COUNT; kind++)
		sources[kind]->configure(bpf, &config, &states[kind]);
	heap_kernel_configure(bpf);
	gpu_kernel_configure(bpf);
	return bpf_load(bpf, ret_why);
}
