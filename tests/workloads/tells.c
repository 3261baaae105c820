/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: samples its own allocations, as a program with a profiler of its own does: tells of one of
 * 64 bytes that stands for 4096, of another address each time, and never of a free. A thousand
 * times a second; with the argument "flood" as fast as it can.
 */
#include "../../daemon/preload/usdt.h"
#include "work.h"

#include <string.h>
#include <unistd.h>

USDT_BASE();
USDT_SEMAPHORE(otel_memory, alloc);

static __attribute__((noipa)) void tell(unsigned long address)
{
	USDT_PROBE(otel_memory, alloc, "8@%0 8@%1 8@%2", "r"(address), "r"(64UL), "r"(4096UL));
}

int main(int argc, char **argv)
{
	int floods = argc > 1 && !strcmp(argv[1], "flood");

	say_ready();
	for (unsigned long address = 4096;; address += 64) {
		tell(address);
		if (!floods)
			usleep(1000);
	}
}
