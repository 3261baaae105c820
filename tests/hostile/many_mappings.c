/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many mappings: COUNT executable mappings of a file in FOLDER whose path has about 4,000 bytes;
 * then FORKS children with the same mappings and one more each, so that they share no table with
 * their parent.
 *
 * The daemon's memory must stay within its bound for all mappings of all processes. The mappings of
 * other users must still be known.
 */
#include "tiny_elf.h"

enum {
	PART = 240,
	LONGEST = 4000,
	AT_ONCE = 32, /* mappings made at once; profd can read the records of this many */
};

/* Makes nested folders step by step: no system call accepts the whole path. */
static int deep_folder(const char *top)
{
	int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char part[PART];
	size_t length = strlen(top);

	need(fd >= 0, "FOLDER");
	memset(part, 'd', sizeof(part) - 1);
	part[sizeof(part) - 1] = '\0';
	for (; length + PART < LONGEST; length += PART) {
		need(mkdirat(fd, part, 0755) == 0 || errno == EEXIST, "mkdir");
		int next = openat(fd, part, O_PATH | O_DIRECTORY | O_CLOEXEC);

		need(next >= 0, "openat");
		close(fd);
		fd = next;
	}
	return fd;
}

static void map_many(int fd, long count)
{
	size_t size = (size_t)(2 * count * PAGE);
	char *area =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	need(area != MAP_FAILED && munmap(area, size) == 0, "mmap");
	for (long i = 0; i < count; i++) {
		need(mmap(area + 2 * i * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		          fd, 0) != MAP_FAILED,
		     "mmap");
		if (i % AT_ONCE == 0)
			usleep(5 * 1000);
	}
}

int main(int argc, char **argv)
{
	int fd = make_tiny_elf(deep_folder(argc > 1 ? argv[1] : "."), "file", 1);
	long count = number(argc, argv, 2, 30000), forks = number(argc, argv, 3, 0);

	map_many(fd, count);
	for (long i = 0; i < forks; i++) {
		if (fork_with() == 0) {
			map_page(fd, 0);
			rest();
		}
		/* Slowly enough for profd to read all records. */
		usleep(20 * 1000);
	}
	say_ready();
	rest();
}
