/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reference count of sealed profiles. A profile and its tables are one block of memory, so the
 * last reference gives it back whole, on whatever thread that is.
 */
#include "profile/profile.h"

struct profile *profile_ref(struct profile *profile)
{
	__atomic_add_fetch(&profile->references, 1, __ATOMIC_RELAXED);
	return profile;
}

void profile_unref(struct profile *profile)
{
	/* Acquire and release: whoever frees must come after every other holder's last look. */
	if (profile && !__atomic_sub_fetch(&profile->references, 1, __ATOMIC_ACQ_REL))
		free(profile);
}
