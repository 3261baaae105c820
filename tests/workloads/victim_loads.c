/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: loads the shared object LIBRARY once; all CPU time is in the function that victim_entry()
 * of the library calls. Runs until killed or for SECONDS.
 */
#include "work.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 2);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *symbol = library ? dlsym(library, "victim_entry") : NULL;

	if (!symbol) {
		fprintf(stderr, "victim_loads: %s\n", dlerror());
		return 1;
	}
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		((void (*)(void))symbol)();
	return 0;
}
