/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Searches the folders in which distributions put libraries.
 */
#include "tests/unit/libraries.h"

#include <fcntl.h>
#include <stdio.h>

struct elf *library_open(const char *name)
{
	static const char *const folders[] = {"/lib64",
	                                      "/usr/lib64",
	                                      "/lib/x86_64-linux-gnu",
	                                      "/lib/aarch64-linux-gnu",
	                                      "/usr/lib/x86_64-linux-gnu",
	                                      "/usr/lib/aarch64-linux-gnu",
	                                      "/lib",
	                                      "/usr/lib"};
	char path[256];
	struct elf *elf;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (elf_open_fd(fd, &elf) == 0)
			return elf;
		close(fd);
	}
	return NULL;
}
