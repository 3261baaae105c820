/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_losses - until when events of whom may not have been told: of everybody before probes
 * were attached, and of the accounts that had no room in the ring. Those have a place each
 * (bpf/user.h). A user who is not known may be any. Loop thread only.
 */
#pragma once

#include "bpf/user.h"

#include <stdbool.h>

struct gpu_losses {
	struct hash_key hash_key; /* the kernel half's */
	uint64_t attached_ns;
	uint64_t any_ns, of_ns[ACCOUNT_PLACES]; /* by place; 0: never */
};

/* The accounts of this place have lost events until that time. */
void gpu_losses_note(struct gpu_losses *losses, uint32_t place, uint64_t mono_ns);
/* Whether those may have been of this user, or OWNER_UNKNOWN. */
bool gpu_losses_may_be_of(const struct gpu_losses *losses, uint32_t place, uint32_t user);
/* Until when not all that he did may be known. */
uint64_t gpu_losses_until(const struct gpu_losses *losses, uint32_t user);
