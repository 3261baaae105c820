/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds libcupti: a library that is loaded already, the one that PROFD_CUPTI names, one that the
 * dynamic linker finds, one where CUDA's toolkit puts it.
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

/* CUPTI 13.2 recurses without end where its start fails, as it does on a driver of CUDA 12, so
 * it must not be called there at all. A function that came with 13.0 identifies the version of
 * CUPTI. */
static bool is_driver_older(void *library)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*get_version)(int *) = NULL;
	int version = 0;

	if (!driver)
		return false;
	*(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
	if (!get_version || get_version(&version) != 0)
		version = 0;
	dlclose(driver);
	return dlsym(library, "cuptiSubscribe_v2") && version && version < 13000;
}

const char *cupti_load(struct cupti *cupti)
{
	void *library = find_library();
	bool all = true;

	if (!library)
		return "libcupti.so was not found; PROFD_CUPTI can give its path";
	if (is_driver_older(library))
		return "libcupti.so is of CUDA 13 and the driver is older";
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
#define FUNCTION(name, ...) *(void **)&cupti->name = dlsym(library, "cupti" #name);
	CUPTI_FUNCTIONS_MORE(FUNCTION)
#undef FUNCTION
	return all ? NULL : "libcupti.so is too old";
}

const char *cupti_text(const struct cupti *cupti, int result)
{
	const char *text = NULL;

	if (cupti->GetResultString(result, &text) != CUPTI_OK || !text)
		return "an unknown error";
	return text;
}
