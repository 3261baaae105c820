/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Touches new pages of 4 KiB and gives them back, for SECONDS, as fast as it can, and prints the
 * CPU time of one touch. The overhead of recording the growth of resident memory is largest in this
 * workload.
 */
#include "work.h"

#include <sys/mman.h>

enum { PAGE = 4096, BYTES = 64 << 20 };

int main(int argc, char **argv)
{
	char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double stop = deadline(argc, argv, 1), spent = 0;
	uint64_t touched = 0;

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, BYTES, MADV_NOHUGEPAGE);
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		double start = seconds_now(CLOCK_THREAD_CPUTIME_ID);

		for (size_t at = 0; at < BYTES; at += PAGE)
			memory[at] = 1;
		spent += seconds_now(CLOCK_THREAD_CPUTIME_ID) - start;
		touched += BYTES / PAGE;
		madvise(memory, BYTES, MADV_DONTNEED);
	}
	printf("%.1f ns/touch\n", 1e9 * spent / (double)touched);
	return 0;
}
