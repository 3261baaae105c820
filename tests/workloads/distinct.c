/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: maps and unmaps 1 MiB repeatedly, each time from another stack of LEVELS random calls of
 * left() or right(). PROCESSES (4) do so at once, until killed or for SECONDS. It is the hardest
 * case for a profiler that aggregates by stack.
 */
#include "work.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEVELS = 40, BYTES = 1 << 20, AT_ONCE = 100 };

static void descend(uint64_t path, int level);

static __attribute__((noipa)) void left(uint64_t path, int level)
{
	descend(path, level);
	__asm__ volatile("");
}

static __attribute__((noipa)) void right(uint64_t path, int level)
{
	descend(path, level);
	__asm__ volatile("");
}

static __attribute__((noipa)) void descend(uint64_t path, int level)
{
	if (level == 0) {
		void *memory = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory != MAP_FAILED)
			munmap(memory, BYTES);
	} else if (path & 1) {
		left(path >> 1, level - 1);
	} else {
		right(path >> 1, level - 1);
	}
}

static void map_until(double stop, uint64_t seed)
{
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		for (int i = 0; i < AT_ONCE; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			descend(seed >> 20, LEVELS);
		}
	}
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[2]) : 4;
	double stop = deadline(argc, argv, 1);

	say_ready();
	for (int i = 0; i < processes; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			map_until(stop, (uint64_t)getpid() << 32);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
