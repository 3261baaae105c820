/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The heap profiles' part of the BPF skeleton.
 */
#include "kernel/heap_kernel.h"

#include "base/cleanup.h"
#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"
#include "kernel/uprobes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

/* Must match bpf/heap/heap_maps.bpf.h. */
struct live_key {
	u64 address, serial;
};

/* Sets the kind of uprobe that each program is for. */
static void set_types(struct profd_bpf *skeleton)
{
	struct bpf_program *const multi[] = {
		skeleton->progs.heap_entry,
		skeleton->progs.heap_return,
		skeleton->progs.heap_return_instruction,
		skeleton->progs.heap_count,
		skeleton->progs.heap_usdt_alloc,
		skeleton->progs.heap_usdt_free,
	};

	uprobes_declare(multi, sizeof(multi) / sizeof(multi[0]), skeleton->progs.heap_session);
}

int heap_kernel_load(const struct heap_kernel *kernel, struct heap_programs *ret_programs)
{
	int err = bpf_part_load(kernel->bpf, BPF_PART_HEAP, set_types);
	const struct profd_bpf *part = bpf_part(kernel->bpf, BPF_PART_HEAP);

	if (err)
		return err;
	*ret_programs = (struct heap_programs){
		.session = bpf_program__fd(part->progs.heap_session),
		.entry = bpf_program__fd(part->progs.heap_entry),
		.leave = bpf_program__fd(part->progs.heap_return),
		.leave_instruction = bpf_program__fd(part->progs.heap_return_instruction),
		.count = bpf_program__fd(part->progs.heap_count),
	};
	return 0;
}

int heap_kernel_load_told(const struct heap_kernel *kernel, struct heap_told_programs *ret_programs)
{
	int err = bpf_part_load(kernel->bpf, BPF_PART_HEAP_TOLD, set_types);
	const struct profd_bpf *part = bpf_part(kernel->bpf, BPF_PART_HEAP_TOLD);

	if (err)
		return err;
	*ret_programs = (struct heap_told_programs){
		.alloc = bpf_program__fd(part->progs.heap_usdt_alloc),
		.freed = bpf_program__fd(part->progs.heap_usdt_free),
		.sites = bpf_map__fd(part->maps.static_sites),
	};
	return 0;
}

const char *heap_kernel_why(const struct heap_kernel *kernel)
{
	return bpf_part_why(kernel->bpf, BPF_PART_HEAP);
}

/* A loaded part, which has the maps; NULL before any is loaded. */
static const struct profd_bpf *loaded(const struct heap_kernel *kernel)
{
	return bpf_part(kernel->bpf, BPF_PART_HEAP) ?: bpf_part(kernel->bpf, BPF_PART_HEAP_TOLD);
}

int heap_kernel_events(const struct heap_kernel *kernel)
{
	const struct profd_bpf *part = loaded(kernel);

	return part ? bpf_map__fd(part->maps.heap_events) : -ENOENT;
}

int heap_kernel_watch(const struct heap_kernel *kernel, u32 slot, const struct heap_target *target)
{
	const struct profd_bpf *part = loaded(kernel);

	return part ? bpf_map_update_elem(bpf_map__fd(part->maps.heap_targets), &slot, target,
	                                  BPF_ANY)
	            : -ENOENT;
}

void heap_kernel_unwatch(const struct heap_kernel *kernel, u32 slot)
{
	const struct heap_target none = {0};

	heap_kernel_watch(kernel, slot, &none);
}

int heap_kernel_counts(const struct heap_kernel *kernel, u32 slot, struct heap_counts *ret_counts)
{
	const u32 cpu_count = kernel->bpf->cpu_count;
	_cleanup_free_ struct heap_cpu *cpus = calloc(cpu_count, sizeof(*cpus));
	const struct profd_bpf *part = loaded(kernel);
	struct heap_counts sum = {0};
	int err = cpus ? 0 : -ENOMEM;

	if (!err && part)
		err = bpf_map_lookup_elem(bpf_map__fd(part->maps.heap_cpus), &slot, cpus);
	for (u32 cpu = 0; !err && cpu < cpu_count; cpu++) {
		const struct heap_counts *counts = &cpus[cpu].counts;

#define COUNT(name, help) sum.name += counts->name;
		HEAP_COUNTS(COUNT)
#undef COUNT
	}
	*ret_counts = sum;
	return err;
}

void heap_kernel_forget(const struct heap_kernel *kernel, u32 serial)
{
	const struct profd_bpf *part = loaded(kernel);
	int live = part ? bpf_map__fd(part->maps.heap_live) : -1;
	struct live_key key, next;
	bool more = bpf_map_get_next_key(live, NULL, &next) == 0;

	/* A key is deleted only when the next one is known: from a deleted key the walk would start
	 * over. */
	while (more) {
		key = next;
		more = bpf_map_get_next_key(live, &key, &next) == 0;
		if (key.serial == serial)
			bpf_map_delete_elem(live, &key);
	}
}

int heap_kernel_hold_exec(struct heap_kernel *kernel)
{
	if (!kernel->exec_users) {
		const struct profd_bpf *part = bpf_part(kernel->bpf, BPF_PART_HEAP);

		kernel->exec_link = part ? bpf_program__attach(part->progs.heap_exec) : NULL;
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
