/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The GPU part of the BPF skeleton.
 */
#include "kernel/gpu_kernel.h"

#include "base/cleanup.h"
#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"
#include "kernel/uprobes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

/* A sleepable program begins and ends 20 ns sooner, because less is held while it runs. These
 * programs never sleep while they are counted as working in a half. Perf events accept sleepable
 * programs only since Linux 6.0. */
static void let_sleep(struct profd_bpf *skeleton)
{
	struct bpf_program *const often[] = {
		skeleton->progs.gpu_session,
		skeleton->progs.gpu_entry,
		skeleton->progs.gpu_return,
	};

	for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++)
		bpf_program__set_flags(often[i], BPF_F_SLEEPABLE);
}

/* Sets the kind of uprobe that each program is for. */
static void set_types(struct profd_bpf *skeleton)
{
	struct bpf_program *const multi[] = {
		skeleton->progs.gpu_entry,
		skeleton->progs.gpu_return,
		skeleton->progs.gpu_launched,
		skeleton->progs.gpu_ran,
	};

	if (uprobes_declare(multi, sizeof(multi) / sizeof(multi[0]), skeleton->progs.gpu_session))
		let_sleep(skeleton);
}

int gpu_kernel_load(const struct gpu_kernel *kernel, struct gpu_programs *ret_programs)
{
	int err = bpf_part_load(kernel->bpf, BPF_PART_GPU, set_types);
	const struct profd_bpf *part = bpf_part(kernel->bpf, BPF_PART_GPU);

	if (err)
		return err;
	*ret_programs = (struct gpu_programs){
		.session = bpf_program__fd(part->progs.gpu_session),
		.entry = bpf_program__fd(part->progs.gpu_entry),
		.leave = bpf_program__fd(part->progs.gpu_return),
	};
	return 0;
}

int gpu_kernel_load_told(const struct gpu_kernel *kernel, struct gpu_told_programs *ret_programs)
{
	int err = bpf_part_load(kernel->bpf, BPF_PART_GPU_TOLD, set_types);
	const struct profd_bpf *part = bpf_part(kernel->bpf, BPF_PART_GPU_TOLD);

	if (err)
		return err;
	*ret_programs = (struct gpu_told_programs){
		.launched = bpf_program__fd(part->progs.gpu_launched),
		.ran = bpf_program__fd(part->progs.gpu_ran),
		.sites = bpf_map__fd(part->maps.static_sites),
	};
	return 0;
}

const char *gpu_kernel_why(const struct gpu_kernel *kernel)
{
	return bpf_part_why(kernel->bpf, BPF_PART_GPU);
}

/* A loaded part, which has the maps; NULL before any is loaded. */
static const struct profd_bpf *loaded(const struct gpu_kernel *kernel)
{
	return bpf_part(kernel->bpf, BPF_PART_GPU) ?: bpf_part(kernel->bpf, BPF_PART_GPU_TOLD);
}

int gpu_kernel_events(const struct gpu_kernel *kernel)
{
	const struct profd_bpf *part = loaded(kernel);

	return part ? bpf_map__fd(part->maps.gpu_events) : -ENOENT;
}

int gpu_kernel_ring_users(const struct gpu_kernel *kernel,
                          struct ring_user ret_users[ACCOUNT_PLACES])
{
	const struct profd_bpf *part = loaded(kernel);
	int err = 0;

	memset(ret_users, 0, ACCOUNT_PLACES * sizeof(*ret_users));
	for (u32 at = 0; part && at < ACCOUNT_PLACES && !err; at++)
		err = bpf_map_lookup_elem(bpf_map__fd(part->maps.gpu_users), &at, &ret_users[at]);
	return err;
}

struct hash_key gpu_kernel_hash_key(const struct gpu_kernel *kernel)
{
	const struct profd_bpf *skeleton = kernel->bpf->skeleton;

	return (struct hash_key){skeleton->rodata->hash_key.start,
	                         skeleton->rodata->hash_key.factor};
}

int gpu_kernel_counts(const struct gpu_kernel *kernel, struct gpu_counts *ret_counts)
{
	const u32 cpu_count = kernel->bpf->cpu_count;
	const struct profd_bpf *part = loaded(kernel);
	_cleanup_free_ struct gpu_counts *cpus = part ? calloc(cpu_count, sizeof(*cpus)) : NULL;
	u32 first = 0;
	int err;

	*ret_counts = (struct gpu_counts){0};
	if (!part)
		return 0;
	if (!cpus)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(part->maps.gpu_counts), &first, cpus);
	for (u32 cpu = 0; !err && cpu < cpu_count; cpu++) {
#define COUNT(name, help) ret_counts->name += cpus[cpu].name;
		GPU_COUNTS(COUNT)
#undef COUNT
	}
	return err;
}
