/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs that report their own allocations: COUNT processes that report each allocation, as with
 * a sampling rate of 1 byte, at a new address each time, and never a free. After each 512 reports
 * they rest for MILLISECONDS.
 *
 * The daemon's memory must stay within its bound for the standing heaps of all processes, and the
 * reports of other users' programs must still be recorded.
 */
#include "../../daemon/preload/usdt.h"
#include "attack.h"

USDT_BASE();
USDT_SEMAPHORE(otel_memory, alloc);

static __attribute__((noipa)) void tell(unsigned long address)
{
	USDT_PROBE(otel_memory, alloc, "8@%0 8@%1 8@%2", "r"(address), "r"(64UL), "r"(64UL));
}

static void tell_on(long rest_ms)
{
	for (unsigned long address = PAGE;; address += 64) {
		tell(address);
		/* Without this rest, all of them together would occupy the CPUs. */
		if (address % (1 << 15) == 0)
			usleep(rest_ms * 1000);
	}
}

int main(int argc, char **argv)
{
	long count = number(argc, argv, 1, 250), rest_ms = number(argc, argv, 2, 250);

	for (long i = 1; i < count; i++)
		if (fork_with() == 0)
			tell_on(rest_ms);
	say_ready();
	tell_on(rest_ms);
}
