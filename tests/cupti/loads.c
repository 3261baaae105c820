/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The library with a listener and the CUPTI that PROFD_CUPTI names. Argument 1 is a driver that the
 * program loads, if any. Exits with 0 if nothing is recorded.
 */
#include "cuda_helper/counters.h"
#include "tests/cuda_helper/heard.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

int InitializeInjection(void);

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_sec = 1};

	if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	heard_listen(true);
	if (InitializeInjection() != 1)
		return 3;
	nanosleep(&pause, NULL);
	return profd_cuda_counters.started ? 4 : 0;
}
