/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps each FILE executable and never runs it. With many copies of libprofd-heap.so it occupies all
 * places for files whose static probes profd uses.
 *
 * The daemon must still use the probes in files of other users, and must free the places when no
 * process maps the files any more.
 */
#include "attack.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		struct stat st;

		need(fd >= 0 && fstat(fd, &st) == 0, argv[i]);
		need(mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) !=
		             MAP_FAILED,
		     argv[i]);
		close(fd);
	}
	say_ready();
	rest();
}
