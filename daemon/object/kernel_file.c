/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares the numbers of devices and inodes that stat() and a maps file give.
 */
#include "object/kernel_file.h"

#include "base/buf.h"
#include "base/text.h"
#include "object/maps.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_MAPS_BYTES = 8 << 20 };

static bool is_same(const struct kernel_file *a, const struct kernel_file *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

struct search {
	uint64_t address;
	struct kernel_file *file;
};

static int take_line(const struct maps_line *line, void *ctx)
{
	const struct search *search = ctx;

	if (search->address < line->start || search->address >= line->end)
		return 0;
	*search->file = (struct kernel_file){line->major, line->minor, line->inode};
	return 1;
}

bool kernel_file_find(const char *bytes, size_t len, uint64_t address, struct kernel_file *ret_file)
{
	struct search search = {address, ret_file};
	struct text text = text_of(bytes, len), line;

	/* Lines are parsed one at a time, so that a malformed line does not hide others. */
	while (text_line(&text, &line))
		if (maps_parse(line.at, (size_t)(line.end - line.at), take_line, &search) == 1)
			return true;
	return false;
}

/* Maps the file and reads the numbers of that mapping. */
static bool ask_kernel(int fd, struct kernel_file *ret_file)
{
	_cleanup_(buf_release) struct buf maps = BUF_INIT;
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page_bytes, PROT_NONE, MAP_PRIVATE, fd, 0);
	int err;

	if (at == MAP_FAILED)
		return false;
	err = buf_read_file(&maps, "/proc/self/maps", MAX_MAPS_BYTES);
	munmap(at, page_bytes);
	return !err && kernel_file_find(buf_text(&maps), maps.len, (uintptr_t)at, ret_file);
}

bool kernel_file_has_doubles(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == BTRFS_SUPER_MAGIC;
}

bool kernel_file_is(const struct kernel_file *file, int fd, const struct stat *st)
{
	const struct kernel_file told = {major(st->st_dev), minor(st->st_dev), st->st_ino};
	struct kernel_file asked;

	return is_same(file, &told) || (ask_kernel(fd, &asked) && is_same(file, &asked));
}
