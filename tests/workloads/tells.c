/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: reports its own allocations, as a program with a built-in heap profiler does: a sampled
 * allocation of 64 bytes with a weight of 4096, at a new address each time, and never a free. It
 * does so a thousand times a second, with the argument "flood" as fast as it can.
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
