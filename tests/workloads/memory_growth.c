/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: memory of kind MODE grows by the number of bytes printed at the end. grow60() takes 60 %
 * of them, grow30() 30 % and grow10() 10 %, because they do the same work 6, 3 and 1 times. Growth
 * starts when a line arrives on the input; after printing, the process waits to be killed. The
 * memory of an old process at profd's first inspection is not growth, so settle() causes that first
 * inspection with a megabyte of its own. The second argument multiplies the number of rounds.
 *
 *   anon     pages of 4 KiB, each touched once
 *   refill   the same, but freed after each round, so that little is resident at a time
 *   huge     pages of 2 MiB, if the kernel has them
 *   shared   anonymous memory shared with children
 *   file     pages of a file, read
 *   mmap     address space that is never touched
 *   storm    the same, as fast as possible, and unmapped again
 *   vast     the same, up to 48 TiB at a time, more than 2^63 bytes in all
 */
#include "work.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, SETTLES = 1 << 20 };

struct mode {
	const char *name;
	size_t unit; /* bytes; a round is ten units */
	size_t rounds;
	void (*grow)(size_t bytes);
};

static const struct mode *mode;
static size_t rounds;
static char *next, *start; /* the memory to touch */
static size_t grown;
static volatile char sink;

static __attribute__((noipa)) void touch(size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		next[at] = 1;
	next += bytes;
}

static __attribute__((noipa)) void read_only(size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		sink = next[at];
	next += bytes;
}

static void *map(size_t bytes, int flags, int fd)
{
	int protection = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
	void *at = mmap(NULL, bytes, protection, flags, fd, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

static __attribute__((noipa)) void only_map(size_t bytes)
{
	for (size_t at = 0; at < bytes; at += HUGE) {
		map(HUGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
		usleep(1000);
	}
}

static __attribute__((noipa)) void map_and_unmap(size_t bytes)
{
	for (size_t at = 0; at < bytes; at += HUGE)
		munmap(map(HUGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1), HUGE);
}

static __attribute__((noipa)) void map_at_once(size_t bytes)
{
	munmap(map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1), bytes);
}

static const struct mode modes[] = {
	{"anon", 128 << 10, 100, touch},
	{"refill", 640 << 10, 40, touch},
	{"huge", HUGE, 6, touch},
	{"shared", 128 << 10, 50, touch},
	{"file", 128 << 10, 50, read_only},
	{"mmap", HUGE, 100, only_map},
	{"storm", HUGE, 5000, map_and_unmap},
	{"vast", (size_t)8 << 40, 110000, map_at_once},
};

#define GROW(name)                                            \
	static __attribute__((noipa)) void name(size_t units) \
	{                                                     \
		mode->grow(units * mode->unit);               \
		grown += units * mode->unit;                  \
	}

GROW(grow60)
GROW(grow30)
GROW(grow10)

/* A file whose pages are in the page cache, so reading it does not wait for a disk. */
static int filled_file(size_t bytes)
{
	char path[] = "memory_growth.XXXXXX", block[PAGE] = {1};
	int fd = mkstemp(path);

	if (fd < 0)
		exit(1);
	unlink(path);
	for (size_t at = 0; at < bytes; at += sizeof(block))
		if (write(fd, block, sizeof(block)) != sizeof(block))
			exit(1);
	return fd;
}

static void prepare(void)
{
	size_t bytes = 10 * mode->unit * rounds;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;

	if (mode->grow != touch && mode->grow != read_only)
		return;
	if (!strcmp(mode->name, "file")) {
		fd = filled_file(bytes);
		flags = MAP_SHARED;
	} else if (!strcmp(mode->name, "shared")) {
		flags = MAP_SHARED | MAP_ANONYMOUS;
	}
	start = map(bytes + HUGE, flags, fd);
	if (!strcmp(mode->name, "huge")) {
		start += HUGE - ((uintptr_t)start & (HUGE - 1));
		madvise(start, bytes, MADV_HUGEPAGE);
	} else {
		madvise(start, bytes, MADV_NOHUGEPAGE);
	}
	next = start;
}

/* Touches more pages than a process can gain without an inspection. */
static __attribute__((noipa)) void settle(void)
{
	char *pages = map(SETTLES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(pages, SETTLES, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < SETTLES; at += PAGE)
		pages[at] = 1;
}

static void round_over(void)
{
	if (!strcmp(mode->name, "refill")) {
		madvise(start, (size_t)(next - start), MADV_DONTNEED);
		next = start;
	}
	if (mode->grow == touch || mode->grow == read_only)
		usleep(10 * 1000);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc >= 2 && !strcmp(argv[1], modes[i].name))
			mode = &modes[i];
	if (!mode)
		return 64;
	rounds = mode->rounds * (argc == 3 ? strtoul(argv[2], NULL, 10) : 1);
	prepare();
	say_ready();
	if (getchar() == EOF)
		return 0;
	settle();
	for (size_t i = 0; i < rounds; i++) {
		grow60(6);
		grow30(3);
		grow10(1);
		round_over();
	}
	printf("%zu\n", grown);
	fflush(stdout);
	pause();
	return 0;
}
