/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps FILE, which it has brought along, 60,000 times in each of five processes. To put a probe
 * into a file, the kernel goes through all its mappings, and no process of the host can fork
 * meanwhile.
 *
 * The daemon must put no probes into this file, neither by itself nor because this user asks for
 * the heap of a process.
 */
#include "attack.h"

enum { TIMES = 60000, PROCESSES = 5 };

int main(int argc, char **argv)
{
	struct stat st;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	need(fd >= 0 && fstat(fd, &st) == 0, "FILE");
	for (int i = 0; i < TIMES; i++)
		need(mmap(NULL, (size_t)st.st_size, PROT_READ | (i ? 0 : PROT_EXEC), MAP_PRIVATE,
		          fd, 0) != MAP_FAILED,
		     "mmap");
	for (int i = 1; i < PROCESSES; i++)
		if (fork_with() == 0)
			rest();
	say_ready();
	rest();
}
