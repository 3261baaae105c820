/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of the skeleton that belongs to GPUs.
 */
#include "collect/gpu_kernel.h"

#include "base/cleanup.h"
#include "bpf/profd.skel.h"
#include "collect/uprobes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>

/* A program that may sleep begins and ends sooner by 20 ns: what it holds meanwhile is less. Ours
 * never do so where they have announced themselves. Perf events take such ones since 6.0 only. */
static void let_sleep(struct bpf *bpf)
{
	struct bpf_program *const often[] = {
		bpf->skeleton->progs.gpu_session,
		bpf->skeleton->progs.gpu_entry,
		bpf->skeleton->progs.gpu_return,
	};

	for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++)
		bpf_program__set_flags(often[i], BPF_F_SLEEPABLE);
}

void gpu_kernel_configure(struct bpf *bpf)
{
	struct bpf_program *const multi[] = {
		bpf->skeleton->progs.gpu_entry,
		bpf->skeleton->progs.gpu_return,
		bpf->skeleton->progs.gpu_launched,
		bpf->skeleton->progs.gpu_ran,
	};

	if (!uprobes_are_multi())
		return;
	for (size_t i = 0; i < sizeof(multi) / sizeof(multi[0]); i++)
		bpf_program__set_expected_attach_type(multi[i],
		                                      (enum bpf_attach_type)UPROBE_MULTI_ATTACH);
	bpf_program__set_expected_attach_type(bpf->skeleton->progs.gpu_session,
	                                      (enum bpf_attach_type)UPROBE_SESSION_ATTACH);
	let_sleep(bpf);
}

void gpu_kernel_open(struct gpu_kernel *kernel, struct bpf *bpf)
{
	*kernel = (struct gpu_kernel){
		.programs =
			{
				.session = bpf_program__fd(bpf->skeleton->progs.gpu_session),
				.entry = bpf_program__fd(bpf->skeleton->progs.gpu_entry),
				.leave = bpf_program__fd(bpf->skeleton->progs.gpu_return),
				.launched = bpf_program__fd(bpf->skeleton->progs.gpu_launched),
				.ran = bpf_program__fd(bpf->skeleton->progs.gpu_ran),
			},
		.events = bpf_map__fd(bpf->skeleton->maps.gpu_events),
		.counts = bpf_map__fd(bpf->skeleton->maps.gpu_counts),
		.cpu_count = bpf->cpu_count,
	};
}

int gpu_kernel_counts(const struct gpu_kernel *kernel, struct gpu_counts *ret_counts)
{
	_cleanup_free_ struct gpu_counts *cpus = calloc(kernel->cpu_count, sizeof(*cpus));
	struct gpu_counts sum = {0};
	u32 first = 0;
	int err = cpus ? bpf_map_lookup_elem(kernel->counts, &first, cpus) : -ENOMEM;

	for (u32 cpu = 0; !err && cpu < kernel->cpu_count; cpu++) {
#define COUNT(name, help) sum.name += cpus[cpu].name;
		GPU_COUNTS(COUNT)
#undef COUNT
	}
	*ret_counts = sum;
	return err;
}
