/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Page tables that take long to walk: GIB of address space, all mapped to the same few pages.
 * Reading smaps_rollup of this process takes about a tenth of a second per GiB. The process holds
 * almost no memory except the tables, 2 MiB per GiB.
 *
 * A request for its PSS may wait; no other request may.
 */
#include "attack.h"

enum { PIECE = 32 << 20 };

int main(int argc, char **argv)
{
	long gib = number(argc, argv, 1, 16);
	int fd = memfd_create("pages", MFD_CLOEXEC);

	need(fd >= 0 && ftruncate(fd, PIECE) == 0, "memfd");
	for (long i = 0; i < gib * (1 << 30) / PIECE; i++)
		need(mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0) !=
		             MAP_FAILED,
		     "mmap");
	say_ready();
	rest();
}
