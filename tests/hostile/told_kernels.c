/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Kernels of GPUs that never ran: a program reports them as fast as it can, each with a new name as
 * long as names may be, and with a time as long as numbers are. It maps the copy of CUDA's driver
 * that is its argument, because the daemon reads the reports of hosts with a GPU all the time.
 *
 * The daemon must have time for all other work, and its memory must stay within the bound for the
 * kernels of a slice.
 */
#include "../../daemon/preload/usdt.h"
#include "attack.h"

enum { NAME_BYTES = 511 };

USDT_BASE();
USDT_SEMAPHORE(profd_cuda, ran);

static __attribute__((noipa)) void tell(const char *name)
{
	USDT_PROBE(profd_cuda, ran, "8@%0 8@%1 8@%2 8@%3 8@%4 8@%5", "r"(1UL), "r"(~0UL), "r"(0UL),
	           "r"(name), "r"(~0UL), "r"(~0UL));
}

int main(int argc, char **argv)
{
	char name[NAME_BYTES + 1];
	int fd = open(argc > 1 ? argv[1] : "", O_RDONLY | O_CLOEXEC);

	need(fd >= 0, "open");
	map_page(fd, 0);
	say_ready();
	for (unsigned long at = 0;; at++) {
		snprintf(name, sizeof(name), "%0*lu", NAME_BYTES, at);
		tell(name);
	}
}
