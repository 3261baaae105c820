/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mappings of what is no program: COUNT executable mappings of two text files in FOLDER by turns,
 * which the kernel cannot merge; then CHILDREN children, each of which starts a child of its own
 * while profd reads its mappings, and so on. Another child maps so fast that side-band records are
 * lost, and profd reads all of /proc. The process group must be killed.
 *
 * The daemon must go on answering, and its memory must stay within its bound: reading the mappings
 * of a process takes a bounded share of its time.
 */
#include "attack.h"

#include <limits.h>

static int make_text(const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	need(fd >= 0 && write(fd, "text\n", 5) == 5 && ftruncate(fd, PAGE) == 0, path);
	return fd;
}

static void churn(int fd)
{
	char *page = map_page(fd, 0);

	for (;;)
		need(mmap(page, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) !=
		             MAP_FAILED,
		     "mmap");
}

/* Each child goes on for its parent, which stays for a second. */
static void start_one_after_the_other(void)
{
	for (;;) {
		usleep(50 * 1000);
		pid_t child = fork();

		need(child >= 0, "fork");
		if (child > 0) {
			sleep(1);
			_exit(0);
		}
	}
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";
	int texts[] = {make_text(folder, "one"), make_text(folder, "other")};
	long count = number(argc, argv, 2, 60000), children = number(argc, argv, 3, 4);

	for (long i = 0; i < count; i++)
		map_page(texts[i & 1], 0);
	if (fork_with() == 0)
		churn(texts[0]);
	for (long i = 0; i < children; i++)
		if (fork_with() == 0)
			start_one_after_the_other();
	say_ready();
	rest();
}
