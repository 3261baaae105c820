/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_losses - until which time events may be missing, and whose: everybody's before probes
 * were attached, and those of accounts that had no room in the ring. Each account has a place
 * (bpf/user.h). A user that is not known may have any place. Loop thread only.
 */
#pragma once

#include "bpf/user.h"

#include <stdbool.h>

struct gpu_losses {
	struct hash_key hash_key; /* of the kernel half */
	uint64_t attached_ns;
	uint64_t any_ns, of_ns[ACCOUNT_PLACES]; /* by place; 0: never */
};

/* The accounts of this place have lost events until that time. */
void gpu_losses_note(struct gpu_losses *losses, uint32_t place, uint64_t mono_ns);
/* Whether those events may have been of this user, or OWNER_UNKNOWN. */
bool gpu_losses_may_be_of(const struct gpu_losses *losses, uint32_t place, uint32_t user);
/* The time until which events of this user may be missing. */
uint64_t gpu_losses_until(const struct gpu_losses *losses, uint32_t user);
