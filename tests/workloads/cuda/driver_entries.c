/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The exported functions of the stand-in for the driver, and the function that finds them by name.
 * As in the real driver, it returns the exported functions.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum { PER_THREAD_STREAMS = 2 }; /* a bit of the flags */

__attribute__((visibility("hidden"), used)) unsigned int fakecuda_ended;

ENTRIES(ASSEMBLED_ENTRY)

#define DECLARED(name, behind, shape) extern char entry_##name[] __asm__(#name);
ENTRIES(DECLARED)
#undef DECLARED

static const struct {
	const char *name;
	void *at;
} exported[] = {
#define LISTED(name, behind, shape) {#name, entry_##name},
	ENTRIES(LISTED)
#undef LISTED
};

static void *find(const char *name, const char *ending)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "%s%s", name, ending);
	for (size_t i = 0; i < sizeof(exported) / sizeof(exported[0]); i++) {
		if (strcmp(exported[i].name, whole) == 0)
			return exported[i].at;
	}
	return NULL;
}

CUresult fake_get_proc_address(const char *name, void **ret, int version, uint64_t flags)
{
	static const char *const endings[] = {"_v2_ptsz", "_v2_ptds", "_ptsz", "_ptds", "_v2", ""};
	size_t i = flags & PER_THREAD_STREAMS ? 0 : 4;

	(void)version;
	*ret = NULL;
	for (; i < sizeof(endings) / sizeof(endings[0]) && !*ret; i++)
		*ret = find(name, endings[i]);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_get_proc_address_v2(const char *name, void **ret, int version, uint64_t flags,
                                  int *found)
{
	CUresult result = fake_get_proc_address(name, ret, version, flags);

	if (found)
		*found = result ? 1 : 0;
	return result;
}
