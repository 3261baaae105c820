/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: in rounds of four pages' faults, touches_three() touches three new pages for each one that
 * touches_one() does. reads() touches pages of the file in argument 1 that are on a disk only, once
 * a round of 16,384 pages: major faults. Runs until killed.
 */
#include "work.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4096, FILE_PAGES = 64 };

static void touch(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)memory)[i * PAGE] = 1;
}

static __attribute__((noipa)) void touches_three(char *memory)
{
	touch(memory, 3 * PAGES);
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noipa)) void touches_one(char *memory)
{
	touch(memory, PAGES);
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noipa)) int reads(const char *file)
{
	int sum = 0;

	for (size_t i = 0; i < FILE_PAGES; i++)
		sum += ((volatile const char *)file)[i * PAGE];
	return sum;
}

/* The pages of the file leave the page cache, and the process. */
static char *map_anew(int fd, char *file)
{
	if (file)
		munmap(file, FILE_PAGES * PAGE);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	file = mmap(NULL, FILE_PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	/* Each page is a fault of its own. */
	if (file == MAP_FAILED || madvise(file, FILE_PAGES * PAGE, MADV_RANDOM))
		exit(1);
	return file;
}

int main(int argc, char **argv)
{
	size_t bytes = (size_t)4 * PAGES * PAGE;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *file = NULL;
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;

	if (memory == MAP_FAILED || fd < 0 || madvise(memory, bytes, MADV_NOHUGEPAGE))
		return 1;
	say_ready();
	for (;;) {
		touches_three(memory);
		touches_one(memory + (size_t)3 * PAGES * PAGE);
		madvise(memory, bytes, MADV_DONTNEED);
		file = map_anew(fd, file);
		reads(file);
	}
}
