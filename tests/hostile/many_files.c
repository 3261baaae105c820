/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many files: makes COUNT executables in FOLDER, each with its own build ID, maps all of them, and
 * closes them: mappings use no descriptors of the process that maps.
 *
 * The daemon must have descriptors left for clients and for the files of other users, and must
 * close those of this process's files after it has ended.
 */
#include "tiny_elf.h"

int main(int argc, char **argv)
{
	int folder = open(argc > 1 ? argv[1] : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	long count = number(argc, argv, 2, 5000);

	need(folder >= 0, "FOLDER");
	for (long i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file%ld", i);
		int fd = make_tiny_elf(folder, name, (uint64_t)i);

		map_page(fd, 0);
		close(fd);
	}
	say_ready();
	rest();
}
