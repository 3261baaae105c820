/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where libcupti is: what is loaded already, what PROFD_CUPTI says, what the dynamic linker finds,
 * where CUDA's toolkit puts it.
 */
#include "cuda_helper/cupti_api.h"

#include <dlfcn.h>
#include <stdlib.h>

static const char *const names[] = {
	"libcupti.so.13",
	"libcupti.so.12",
	"libcupti.so.11.8",
	"libcupti.so",
};

static const char *const places[] = {
	"/usr/local/cuda/lib64/libcupti.so",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
};

static void *open_any(const char *const *paths, size_t count, int flags)
{
	void *library = NULL;

	for (size_t i = 0; !library && i < count; i++)
		library = dlopen(paths[i], flags);
	return library;
}

static void *find_library(void)
{
	const char *asked = secure_getenv("PROFD_CUPTI");
	void *library = open_any(names, sizeof(names) / sizeof(names[0]), RTLD_NOW | RTLD_NOLOAD);

	if (!library && asked)
		return dlopen(asked, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = open_any(names, sizeof(names) / sizeof(names[0]), RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library =
			open_any(places, sizeof(places) / sizeof(places[0]), RTLD_NOW | RTLD_LOCAL);
	return library;
}

bool cupti_load(struct cupti *cupti)
{
	void *library = find_library();
	bool all = library != NULL;

	if (!library)
		return false;
#define FUNCTION(name, ...)                                     \
	*(void **)&cupti->name = dlsym(library, "cupti" #name); \
	all = all && cupti->name;
	CUPTI_FUNCTIONS(FUNCTION)
#undef FUNCTION
	cupti->many = true;
#define FUNCTION(name, ...)                                     \
	*(void **)&cupti->name = dlsym(library, "cupti" #name); \
	cupti->many = cupti->many && cupti->name;
	CUPTI_FUNCTIONS_V2(FUNCTION)
#undef FUNCTION
	return all;
}

const char *cupti_text(const struct cupti *cupti, int result)
{
	const char *text = NULL;

	if (cupti->GetResultString(result, &text) != CUPTI_OK || !text)
		return "an error without a name";
	return text;
}
