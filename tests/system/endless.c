/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Preloaded into profd, makes its processes of one name loop forever over files of one size.
 * ENDLESS_READER is the name of the process, as profd passes it, and ENDLESS_BYTES the size.
 */
#include <dlfcn.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static off_t endless_bytes;

/* Runs before the process clears its environment. */
static __attribute__((constructor)) void note(int argc, char *argv[])
{
	const char *reader = getenv("ENDLESS_READER"), *bytes = getenv("ENDLESS_BYTES");

	if (reader && bytes && argc > 2 && !strcmp(argv[2], reader))
		endless_bytes = strtol(bytes, NULL, 10);
}

Elf *elf_begin(int fd, Elf_Cmd command, Elf *archive)
{
	Elf *(*begin)(int, Elf_Cmd, Elf *) = (__typeof__(begin))dlsym(RTLD_NEXT, "elf_begin");
	struct stat status;

	while (endless_bytes && fstat(fd, &status) == 0 && status.st_size == endless_bytes)
		;
	return begin(fd, command, archive);
}
