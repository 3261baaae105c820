/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory that grows all the time: PROCESSES that touch 8 MiB in many pieces and give them back.
 * They alone would take many times the samples of growth that profd takes in a second.
 *
 * The growth of other users' processes must still be sampled.
 */
#include "attack.h"

enum { PIECE = 256 << 10, PIECES = 32 };

static __attribute__((noreturn)) void grow(void)
{
	for (;;) {
		char *at[PIECES];

		for (int i = 0; i < PIECES; i++) {
			at[i] = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
			             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
			need(at[i] != MAP_FAILED, "mmap");
		}
		for (int i = 0; i < PIECES; i++)
			munmap(at[i], PIECE);
	}
}

int main(int argc, char **argv)
{
	long processes = number(argc, argv, 1, 8);

	for (long i = 0; i < processes; i++)
		if (fork_with() == 0)
			grow();
	say_ready();
	rest();
}
