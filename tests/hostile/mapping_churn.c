/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mapping churn: COUNT executable mappings of its own program, each of which is replaced
 * repeatedly. The kernel writes a side-band record for each change. When records are lost, the
 * daemon reads the process's mappings from /proc.
 *
 * The daemon must go on answering, spend a bounded share of its time on this process, and keep
 * following the mappings of other processes.
 */
#include "attack.h"

static char *at(char *area, long index)
{
	return area + 2 * index * PAGE;
}

/* Leaves a gap after each mapping, so that the kernel cannot merge them. */
static void replace(char *area, int fd, long index)
{
	void *page = mmap(at(area, index), PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
	                  (index & 1) * PAGE);

	need(page != MAP_FAILED, "mmap");
}

int main(int argc, char **argv)
{
	long count = number(argc, argv, 1, 60000);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *area = mmap(NULL, (size_t)(2 * count * PAGE), PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	need(fd >= 0 && area != MAP_FAILED, "mmap");
	munmap(area, (size_t)(2 * count * PAGE));
	for (long i = 0; i < count; i++)
		replace(area, fd, i);
	say_ready();
	for (long i = 0;; i = (i + 1) % count)
		replace(area, fd, i);
}
