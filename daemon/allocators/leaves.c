/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The names of probed functions are known already (allocators/calls.h). Here are the functions that
 * call them, or that they call.
 */
#include "allocators/leaves.h"

#include "allocators/calls.h"

#include <stddef.h>
#include <string.h>

/* glibc's and musl's own names of functions that they export; Rust's names of its global
 * allocator. */
static const char *const names[] = {
	"_int_malloc",       "_int_memalign",       "_int_realloc",        "_mid_memalign.isra.0",
	"__libc_calloc",     "__libc_malloc",       "__libc_malloc2",      "__libc_memalign",
	"__libc_pvalloc",    "__libc_realloc",      "__libc_reallocarray", "__libc_valloc",
	"__posix_memalign",  "__libc_malloc_impl",  "__malloc_alloc_meta", "sysmalloc",
	"__rust_alloc",      "__rust_alloc_zeroed", "__rust_realloc",      "__rg_alloc",
	"__rg_alloc_zeroed", "__rg_realloc",        "__rdl_alloc",         "__rdl_alloc_zeroed",
	"__rdl_realloc",
};

/* Rust's names since 1.87: mangled in a crate of the compiler's, with a hash. */
static bool is_of_rustc(const char *name)
{
	const char *at = strstr(name, "7___rustc");

	if (strncmp(name, "_R", 2) != 0 || !at)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(names[i]), end = strlen(at);

		if (!strncmp(names[i], "__r", 3) && end > len && !strcmp(at + end - len, names[i]))
			return true;
	}
	return false;
}

bool heap_leaf_is_allocators(const char *linker_name)
{
	enum heap_call call;
	bool prefixed;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(linker_name, names[i]))
			return true;
	return heap_call_named(linker_name, &call, &prefixed) || is_of_rustc(linker_name);
}
