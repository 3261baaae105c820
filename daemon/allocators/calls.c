/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What each call does, and the names that stand for it.
 */
#include "allocators/calls.h"

#include <stdlib.h>
#include <string.h>

static const struct heap_call_info infos[] = {
#define CALL(name, role, size, times, pointer, throws) \
	[HEAP_CALL_##name] = {role, size, times, pointer, throws},
	HEAP_CALLS(CALL)
#undef CALL
};

/* Prefixes by which allocators can be used beside another one: jemalloc, jemalloc in Rust programs,
 * tcmalloc, mimalloc. */
static const char *const prefixes[] = {"je_", "_rjem_", "tc_", "mi_"};

/* Sorted by name, for bsearch(). */
static const struct named {
	const char *name;
	enum heap_call call;
} names[] = {
	{"_ZdaPv", HEAP_CALL_DELETE},
	{"_ZdaPvRKSt9nothrow_t", HEAP_CALL_DELETE},
	{"_ZdaPvSt11align_val_t", HEAP_CALL_DELETE},
	{"_ZdaPvSt11align_val_tRKSt9nothrow_t", HEAP_CALL_DELETE},
	{"_ZdaPvm", HEAP_CALL_DELETE},
	{"_ZdaPvmSt11align_val_t", HEAP_CALL_DELETE},
	{"_ZdlPv", HEAP_CALL_DELETE},
	{"_ZdlPvRKSt9nothrow_t", HEAP_CALL_DELETE},
	{"_ZdlPvSt11align_val_t", HEAP_CALL_DELETE},
	{"_ZdlPvSt11align_val_tRKSt9nothrow_t", HEAP_CALL_DELETE},
	{"_ZdlPvm", HEAP_CALL_DELETE},
	{"_ZdlPvmSt11align_val_t", HEAP_CALL_DELETE},
	{"_Znam", HEAP_CALL_NEW},
	{"_ZnamRKSt9nothrow_t", HEAP_CALL_NEW_NOTHROW},
	{"_ZnamSt11align_val_t", HEAP_CALL_NEW},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", HEAP_CALL_NEW_NOTHROW},
	{"_Znwm", HEAP_CALL_NEW},
	{"_ZnwmRKSt9nothrow_t", HEAP_CALL_NEW_NOTHROW},
	{"_ZnwmSt11align_val_t", HEAP_CALL_NEW},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", HEAP_CALL_NEW_NOTHROW},
	{"aligned_alloc", HEAP_CALL_ALIGNED},
	{"calloc", HEAP_CALL_CALLOC},
	{"cfree", HEAP_CALL_FREE},
	{"dallocx", HEAP_CALL_FREE},
	{"free", HEAP_CALL_FREE},
	{"free_aligned_sized", HEAP_CALL_FREE},
	{"free_sized", HEAP_CALL_FREE},
	{"malloc", HEAP_CALL_MALLOC},
	{"mallocx", HEAP_CALL_MALLOC},
	{"memalign", HEAP_CALL_ALIGNED},
	{"mi_free_aligned", HEAP_CALL_FREE},
	{"mi_free_size", HEAP_CALL_FREE},
	{"mi_free_size_aligned", HEAP_CALL_FREE},
	{"mi_malloc_aligned", HEAP_CALL_MALLOC},
	{"mi_malloc_small", HEAP_CALL_MALLOC},
	{"mi_mallocn", HEAP_CALL_CALLOC},
	{"mi_new", HEAP_CALL_NEW},
	{"mi_new_aligned", HEAP_CALL_NEW},
	{"mi_new_aligned_nothrow", HEAP_CALL_NEW_NOTHROW},
	{"mi_new_nothrow", HEAP_CALL_NEW_NOTHROW},
	{"mi_realloc_aligned", HEAP_CALL_REALLOC},
	{"mi_reallocf", HEAP_CALL_REALLOC},
	{"mi_reallocn", HEAP_CALL_REALLOCARRAY},
	{"mi_recalloc", HEAP_CALL_REALLOCARRAY},
	{"mi_rezalloc", HEAP_CALL_REALLOC},
	{"mi_zalloc", HEAP_CALL_MALLOC},
	{"mi_zalloc_aligned", HEAP_CALL_MALLOC},
	{"mi_zalloc_small", HEAP_CALL_MALLOC},
	{"mmap", HEAP_CALL_MMAP},
	{"mmap64", HEAP_CALL_MMAP},
	{"mremap", HEAP_CALL_MREMAP},
	{"munmap", HEAP_CALL_MUNMAP},
	{"posix_memalign", HEAP_CALL_POSIX_MEMALIGN},
	{"pvalloc", HEAP_CALL_MALLOC},
	{"rallocx", HEAP_CALL_REALLOC},
	{"realloc", HEAP_CALL_REALLOC},
	{"reallocarray", HEAP_CALL_REALLOCARRAY},
	{"sdallocx", HEAP_CALL_FREE},
	{"tc_delete", HEAP_CALL_DELETE},
	{"tc_delete_aligned", HEAP_CALL_DELETE},
	{"tc_delete_nothrow", HEAP_CALL_DELETE},
	{"tc_delete_sized", HEAP_CALL_DELETE},
	{"tc_delete_sized_aligned", HEAP_CALL_DELETE},
	{"tc_deletearray", HEAP_CALL_DELETE},
	{"tc_deletearray_aligned", HEAP_CALL_DELETE},
	{"tc_deletearray_nothrow", HEAP_CALL_DELETE},
	{"tc_deletearray_sized", HEAP_CALL_DELETE},
	{"tc_deletearray_sized_aligned", HEAP_CALL_DELETE},
	{"tc_malloc_skip_new_handler", HEAP_CALL_MALLOC},
	{"tc_new", HEAP_CALL_NEW},
	{"tc_new_aligned", HEAP_CALL_NEW},
	{"tc_new_aligned_nothrow", HEAP_CALL_NEW_NOTHROW},
	{"tc_new_nothrow", HEAP_CALL_NEW_NOTHROW},
	{"tc_newarray", HEAP_CALL_NEW},
	{"tc_newarray_aligned", HEAP_CALL_NEW},
	{"tc_newarray_aligned_nothrow", HEAP_CALL_NEW_NOTHROW},
	{"tc_newarray_nothrow", HEAP_CALL_NEW_NOTHROW},
	{"valloc", HEAP_CALL_MALLOC},
};

static int compare(const void *a, const void *b)
{
	const struct named *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static bool find(const char *name, enum heap_call *ret_call)
{
	const struct named key = {.name = name};
	const struct named *found =
		bsearch(&key, names, sizeof(names) / sizeof(*names), sizeof(*names), compare);

	if (found)
		*ret_call = found->call;
	return found;
}

const struct heap_call_info *heap_call_info(enum heap_call call)
{
	return &infos[call];
}

bool heap_call_is_of_pages(enum heap_call call)
{
	return call == HEAP_CALL_MMAP || call == HEAP_CALL_MREMAP || call == HEAP_CALL_MUNMAP;
}

bool heap_call_named(const char *name, enum heap_call *ret_call, bool *ret_prefixed)
{
	*ret_prefixed = false;
	if (find(name, ret_call)) {
		*ret_prefixed = !strncmp(name, "tc_", 3) || !strncmp(name, "mi_", 3);
		return true;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], len) && name[len] != '_' &&
		    find(name + len, ret_call) && !heap_call_is_of_pages(*ret_call)) {
			*ret_prefixed = true;
			return true;
		}
	}
	return false;
}
