/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "gpu/gpu_losses.h"

#include "base/accounts.h"
#include "proc/owner.h"

static uint32_t place_of(const struct gpu_losses *losses, uint32_t user)
{
	return account_place(&losses->hash_key, account_of(user));
}

void gpu_losses_note(struct gpu_losses *losses, uint32_t place, uint64_t mono_ns)
{
	losses->any_ns = losses->of_ns[place] = mono_ns;
}

bool gpu_losses_may_be_of(const struct gpu_losses *losses, uint32_t place, uint32_t user)
{
	return user == OWNER_UNKNOWN || place_of(losses, user) == place;
}

uint64_t gpu_losses_until(const struct gpu_losses *losses, uint32_t user)
{
	uint64_t lost_ns =
		user == OWNER_UNKNOWN ? losses->any_ns : losses->of_ns[place_of(losses, user)];

	return lost_ns > losses->attached_ns ? lost_ns : losses->attached_ns;
}
