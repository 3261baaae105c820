/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "fetch/library.h"

#include <dlfcn.h>
#include <errno.h>

int library_load(struct library *ret_library)
{
	struct library library = {.handle = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL)};

	if (!library.handle)
		return -ELIBACC;
#define FUNCTION(name)                                                        \
	*(void **)&library.name = dlsym(library.handle, "debuginfod_" #name); \
	if (!library.name)                                                    \
		return -ELIBACC;
	FUNCTION(begin)
	FUNCTION(end)
	FUNCTION(find_debuginfo)
	FUNCTION(set_progressfn)
	FUNCTION(set_verbose_fd)
#undef FUNCTION
	*ret_library = library;
	return 0;
}
