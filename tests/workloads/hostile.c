/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: main() calls a chain of eight functions. The last one uses one CPU all the time and makes
 * the process grow by a page in every millisecond. The symbols are hostile_0 to hostile_6, padded
 * with x to 64 bytes, and hostile_7 followed by 9991 x, so that a test can overwrite them in the
 * file with names of the same length. The first argument becomes the process's name; the second (0)
 * is the number of times that hostile_7 calls itself.
 */
#include "work.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#define X5    "xxxxx"
#define X55   X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5
#define X1000 X500 X500
#define X500  X100 X100 X100 X100 X100
#define X100  X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5 X5
#define X9991                                                                                    \
	X1000 X1000 X1000 X1000 X1000 X1000 X1000 X1000 X1000 X500 X100 X100 X100 X100 X55 X5 X5 \
		X5 X5 X5 X5 "xxxxxx"

enum { SLICE = 300 * 1000, PAGES = 1024, PAGE = 4096 };

static int depth;

static __attribute__((noipa)) void spin(int deeper) __asm__("hostile_7" X9991);

static __attribute__((noipa)) void spin(int deeper)
{
	if (deeper) {
		spin(deeper - 1);
		__asm__ volatile("");
		return;
	}
	while (depth >= 0) {
		char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int i = 0; pages != MAP_FAILED && i < PAGES; i++) {
			pages[i * PAGE] = 1;
			WORK(SLICE);
		}
		munmap(pages, PAGES * PAGE);
	}
}

static __attribute__((noipa)) void spin_deep(void) __asm__("hostile_6" X55);

static __attribute__((noipa)) void spin_deep(void)
{
	spin(depth);
	__asm__ volatile("");
}

#define CALLER(name, symbol, callee)                                   \
	static __attribute__((noipa)) void name(void) __asm__(symbol); \
	static __attribute__((noipa)) void name(void)                  \
	{                                                              \
		callee();                                              \
		__asm__ volatile("");                                  \
	}

CALLER(caller5, "hostile_5" X55, spin_deep)
CALLER(caller4, "hostile_4" X55, caller5)
CALLER(caller3, "hostile_3" X55, caller4)
CALLER(caller2, "hostile_2" X55, caller3)
CALLER(caller1, "hostile_1" X55, caller2)
CALLER(caller0, "hostile_0" X55, caller1)

int main(int argc, char **argv)
{
	if (argc > 1)
		prctl(PR_SET_NAME, argv[1]);
	if (argc > 2)
		depth = atoi(argv[2]);
	say_ready();
	caller0();
	return 0;
}
