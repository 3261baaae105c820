/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A dlsym() that allocates while it works, as that of older C libraries does. It is preloaded after
 * libprofd-heap.so, which therefore calls it. The program aborts at once if these allocations fail.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *dlsym(void *handle, const char *name)
{
	void *(*real)(void *, const char *);
	char *text = calloc(3, 40), *moved, *aligned = memalign(256, 100);

	if (!text || !aligned || (uintptr_t)aligned % 256)
		abort();
	for (int i = 0; i < 120; i++)
		if (text[i])
			abort();
	strcpy(text, "kept");
	moved = realloc(text, 500);
	if (!moved || strcmp(moved, "kept") != 0)
		abort();
	free(moved);
	free(aligned);
	real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	return real ? real(handle, name) : NULL;
}
