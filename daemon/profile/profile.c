/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reference count of sealed profiles. A profile and its tables are one block of memory, so
 * dropping the last reference frees all of it, on any thread.
 */
#include "profile/profile.h"

#include <string.h>

struct profile *profile_ref(struct profile *profile)
{
	__atomic_add_fetch(&profile->references, 1, __ATOMIC_RELAXED);
	return profile;
}

bool profile_is_pseudo(const struct profile *profile, uint32_t location, const char *name)
{
	const struct mapping *mapping = &profile->mappings[profile->locations[location].mapping];

	return mapping->kind == MAPPING_PSEUDO &&
	       !strcmp(profile_string(profile, mapping->path), name);
}

const char *profile_incomplete(const struct profile *profile)
{
	for (uint32_t i = 1; i < profile->comment_count; i++) {
		const char *comment = profile_string(profile, profile->comments[i]);

		if (!strncmp(comment, PROFILE_INCOMPLETE, strlen(PROFILE_INCOMPLETE)))
			return comment + strlen(PROFILE_INCOMPLETE);
	}
	return NULL;
}

void profile_unref(struct profile *profile)
{
	/* Acquire and release: every other holder's last access happens before the memory is
	 * freed. */
	if (profile && !__atomic_sub_fetch(&profile->references, 1, __ATOMIC_ACQ_REL))
		free(profile);
}
