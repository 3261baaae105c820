/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps the first file, which belongs to another user, and at once the second one, of the same name,
 * at the same address: a profiler that looks at the address of the first file finds the second one.
 *
 * Processes that run the first file must still get its names.
 */
#include "attack.h"

enum { TIMES = 100 };

int main(int argc, char **argv)
{
	int theirs = open(argc > 1 ? argv[1] : "", O_RDONLY);
	int own = open(argc > 2 ? argv[2] : "", O_RDONLY);

	need(theirs >= 0 && own >= 0, "open");
	for (int i = 0; i < TIMES; i++) {
		char *place = map_page(theirs, 0);

		need(mmap(place, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, own, 0) ==
		             place,
		     "mmap");
		usleep(20 * 1000);
	}
	say_ready();
	rest();
}
