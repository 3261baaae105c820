/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Command lines: COUNT processes, each of which sets its arguments to almost 16 MiB by
 * PR_SET_MM_MAP. They share that memory.
 *
 * The answer of /processes?cmdline=1 must be bounded for each process and for all together.
 */
#include "attack.h"

#include <linux/prctl.h>

enum { LINE = (16 << 20) - PAGE };

/* The current values of all fields: PR_SET_MM_MAP sets all of them at once. */
static struct prctl_mm_map own_map(void)
{
	struct prctl_mm_map map = {.exe_fd = (uint32_t)-1};
	unsigned long long words[53] = {0};
	char text[4096], *word;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, text, sizeof(text) - 1);

	need(len > 0, "/proc/self/stat");
	close(fd);
	text[len] = '\0';
	word = strrchr(text, ')') + 2;
	for (int i = 3; i <= 52 && word; i++) {
		words[i] = strtoull(word, NULL, 10);
		word = strchr(word, ' ');
		word = word ? word + 1 : NULL;
	}
	map.start_code = words[26];
	map.end_code = words[27];
	map.start_stack = words[28];
	map.start_data = words[45];
	map.end_data = words[46];
	map.start_brk = words[47];
	map.brk = (uintptr_t)sbrk(0);
	map.env_start = words[50];
	map.env_end = words[51];
	return map;
}

/* The kernel reads command lines from anonymous memory only. The children share the pages. */
static char *long_line(void)
{
	char *line = mmap(NULL, LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(line != MAP_FAILED, "mmap");
	memset(line, 'a', LINE - 1);
	return line;
}

int main(int argc, char **argv)
{
	long count = number(argc, argv, 1, 30);
	struct prctl_mm_map map = own_map();
	char *line = long_line();

	map.arg_start = (uintptr_t)line;
	map.arg_end = map.arg_start + LINE;
	need(prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) == 0, "PR_SET_MM_MAP");
	for (long i = 1; i < count; i++)
		if (fork_with() == 0)
			rest();
	say_ready();
	rest();
}
