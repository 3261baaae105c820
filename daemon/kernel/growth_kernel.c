/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of the skeleton that is for memory growth.
 */
#include "kernel/growth_kernel.h"

#include "bpf/profd.skel.h"
#include "kernel/bpf_parts.h"

#include <stdio.h>

static enum bpf_part part_of(const struct growth_wanted *wanted)
{
	return wanted->at_any_price ? BPF_PART_GROWTH_CLOSELY : BPF_PART_GROWTH;
}

int growth_kernel_load(struct bpf *bpf, const struct growth_wanted *wanted)
{
	return bpf_part_load(bpf, part_of(wanted), NULL);
}

const char *growth_kernel_why(const struct bpf *bpf, const struct growth_wanted *wanted)
{
	return bpf_part_why(bpf, part_of(wanted));
}

bool growth_kernel_programs(const struct bpf *bpf, const struct growth_wanted *wanted,
                            struct growth_programs *ret_programs, char ret_why[128])
{
	const struct profd_bpf *part = bpf_part(bpf, part_of(wanted));
	const char *why = growth_kernel_why(bpf, wanted);

	snprintf(ret_why, 128, "%s", *why ? why : "its BPF programs are being loaded");
	if (part)
		*ret_programs = (struct growth_programs){
			.taken = part->progs.resident_taken,
			.arrives = part->progs.resident_arrives,
			.mapped_pages = part->progs.resident_mapped,
			.changed = part->progs.resident_changed,
			.mapped = part->progs.address_space_grows,
		};
	return part != NULL;
}
