/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of the skeleton that belongs to heap profiles.
 */
#include "collect/heap_kernel.h"

#include "base/cleanup.h"
#include "bpf/profd.skel.h"
#include "collect/uprobes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

/* As heap_maps.bpf.h has it. */
struct live_key {
	u64 address, serial;
};

void heap_kernel_configure(struct bpf *bpf)
{
	struct bpf_program *const multi[] = {
		bpf->skeleton->progs.heap_entry,
		bpf->skeleton->progs.heap_return,
		bpf->skeleton->progs.heap_return_instruction,
		bpf->skeleton->progs.heap_count,
		bpf->skeleton->progs.heap_usdt_alloc,
		bpf->skeleton->progs.heap_usdt_free,
	};

	if (!uprobes_are_multi())
		return;
	for (size_t i = 0; i < sizeof(multi) / sizeof(multi[0]); i++)
		bpf_program__set_expected_attach_type(multi[i],
		                                      (enum bpf_attach_type)UPROBE_MULTI_ATTACH);
	bpf_program__set_expected_attach_type(bpf->skeleton->progs.heap_session,
	                                      (enum bpf_attach_type)UPROBE_SESSION_ATTACH);
}

void heap_kernel_open(struct heap_kernel *kernel, struct bpf *bpf)
{
	*kernel = (struct heap_kernel){
		.programs =
			{
				.session = bpf_program__fd(bpf->skeleton->progs.heap_session),
				.entry = bpf_program__fd(bpf->skeleton->progs.heap_entry),
				.leave = bpf_program__fd(bpf->skeleton->progs.heap_return),
				.leave_instruction = bpf_program__fd(
					bpf->skeleton->progs.heap_return_instruction),
				.count = bpf_program__fd(bpf->skeleton->progs.heap_count),
				.usdt_alloc = bpf_program__fd(bpf->skeleton->progs.heap_usdt_alloc),
				.usdt_free = bpf_program__fd(bpf->skeleton->progs.heap_usdt_free),
			},
		.targets = bpf_map__fd(bpf->skeleton->maps.heap_targets),
		.static_sites = bpf_map__fd(bpf->skeleton->maps.static_sites),
		.cpus = bpf_map__fd(bpf->skeleton->maps.heap_cpus),
		.live = bpf_map__fd(bpf->skeleton->maps.heap_live),
		.events = bpf_map__fd(bpf->skeleton->maps.heap_events),
		.cpu_count = bpf->cpu_count,
		.bpf = bpf,
	};
}

int heap_kernel_watch(const struct heap_kernel *kernel, u32 slot, const struct heap_target *target)
{
	return bpf_map_update_elem(kernel->targets, &slot, target, BPF_ANY);
}

void heap_kernel_unwatch(const struct heap_kernel *kernel, u32 slot)
{
	const struct heap_target none = {0};

	bpf_map_update_elem(kernel->targets, &slot, &none, BPF_ANY);
}

int heap_kernel_counts(const struct heap_kernel *kernel, u32 slot, struct heap_counts *ret_counts)
{
	_cleanup_free_ struct heap_cpu *cpus = calloc(kernel->cpu_count, sizeof(*cpus));
	struct heap_counts sum = {0};
	int err = cpus ? bpf_map_lookup_elem(kernel->cpus, &slot, cpus) : -ENOMEM;

	for (u32 cpu = 0; !err && cpu < kernel->cpu_count; cpu++) {
		const struct heap_counts *counts = &cpus[cpu].counts;

#define COUNT(name, help) sum.name += counts->name;
		HEAP_COUNTS(HIT)
#undef COUNT
	}
	*ret_counts = sum;
	return err;
}

void heap_kernel_forget(const struct heap_kernel *kernel, u32 serial)
{
	struct live_key key, next;
	bool more = bpf_map_get_next_key(kernel->live, NULL, &next) == 0;

	/* A key is deleted when the one behind it is known: from a deleted one the walk would begin
	 * again. */
	while (more) {
		key = next;
		more = bpf_map_get_next_key(kernel->live, &key, &next) == 0;
		if (key.serial == serial)
			bpf_map_delete_elem(kernel->live, &key);
	}
}

int heap_kernel_hold_exec(struct heap_kernel *kernel)
{
	if (!kernel->exec_users) {
		kernel->exec_link = bpf_program__attach(kernel->bpf->skeleton->progs.heap_exec);
		if (!kernel->exec_link)
			return -errno;
	}
	kernel->exec_users++;
	return 0;
}

void heap_kernel_release_exec(struct heap_kernel *kernel)
{
	if (--kernel->exec_users)
		return;
	bpf_link__destroy(kernel->exec_link);
	kernel->exec_link = NULL;
}
