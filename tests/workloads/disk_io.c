/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: once it has read a line, it does this with two files of the folder in argument 1, which
 * are on a disk, and ends: direct_writes() writes 16 MiB in pieces of 1 MiB past the page cache,
 * direct_reads() reads 1 MiB of that in pieces of 4 KiB, syncs() writes 8 MiB and waits until the
 * disk has them, and later() writes 8 MiB that a worker of the kernel brings to the disk; the file
 * system's own data, of less than 1 MiB, may go there with them. Then it prints for how many
 * seconds it was in direct_reads(), which is mostly waiting for the disk.
 */
#include "work.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * KIB, PAGE = 4 * KIB, DIRECT = 16, READS = 256, BUFFERED = 8 };

static char *bytes;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static __attribute__((noipa)) void direct_writes(int fd)
{
	for (int i = 0; i < DIRECT; i++)
		check(pwrite(fd, bytes, MIB, (off_t)i * MIB) == MIB, "pwrite");
}

static __attribute__((noipa)) void direct_reads(int fd)
{
	/* Not in order, and no two side by side. */
	for (int i = 0; i < READS; i++)
		check(pread(fd, bytes, PAGE, (off_t)(i * 37 % READS) * 8 * PAGE) == PAGE, "pread");
}

static void writes(int fd)
{
	for (int i = 0; i < BUFFERED; i++)
		check(write(fd, bytes, MIB) == MIB, "write");
}

static __attribute__((noipa)) void syncs(int fd)
{
	writes(fd);
	check(!fsync(fd), "fsync");
}

static __attribute__((noipa)) void later(int fd)
{
	writes(fd);
	check(!syncfs(fd), "syncfs");
}

static int opened(const char *folder, int flags)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | flags, 0600);

	check(fd >= 0, folder);
	return fd;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	int direct = opened(argv[1], O_DIRECT), buffered = opened(argv[1], 0);
	double reads;

	check(!posix_memalign((void **)&bytes, PAGE, MIB), "posix_memalign");
	memset(bytes, 1, MIB);
	say_ready();
	getchar();
	direct_writes(direct);
	reads = seconds_now(CLOCK_MONOTONIC);
	direct_reads(direct);
	reads = seconds_now(CLOCK_MONOTONIC) - reads;
	syncs(buffered);
	later(buffered);
	printf("%.6f\n", reads);
	return 0;
}
