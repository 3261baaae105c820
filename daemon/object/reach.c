/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens what another process has mapped. A wrong file would give wrong names, which are worse than
 * none, so the file that was opened is compared with the file of the mapping.
 */
#include "object/reach.h"

#include "base/buf.h"
#include "base/clock.h"
#include "object/mounts.h"
#include "object/stamp.h"
#include "object/stat_fields.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { MAX_LINK_BYTES = 96 };

enum { MAX_STAT_BYTES = 2048 };

static const char deleted[] = " (deleted)";

bool reach_is_file(const char *path)
{
	/* /memfd is not in this list: it may hold code with symbols, and map_files reaches it. */
	static const char *const others[] = {"//anon", "[", "/dev/zero", "/SYSV", "anon_inode:"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strncmp(path, others[i], strlen(others[i])))
			return false;
	}
	return path[0] != '\0';
}

void reach_path(const char *path, char ret_path[MAX_PATH_BYTES])
{
	size_t len = strnlen(path, MAX_PATH_BYTES - 1);

	memcpy(ret_path, path, len);
	if (len > strlen(deleted) &&
	    !memcmp(path + len - strlen(deleted), deleted, strlen(deleted)))
		len -= strlen(deleted);
	ret_path[len] = '\0';
}

/* Reads what the kernel has in memory about a file: no file system is asked, so this never
 * waits. */
static int look_at(int place, struct statx *ret_statx)
{
	if (statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, ret_statx) < 0)
		return -errno;
	return S_ISREG(ret_statx->stx_mode) ? 0 : -ENOEXEC;
}

/* Opens a file for reading, after it is known to be a regular file that may be opened. Before that
 * there is only an O_PATH descriptor, because opening is an event for a FIFO, a terminal, a tape or
 * a watchdog, and a request to the program behind a user's file system. Does not wait for a lease
 * on the file. */
static int open_known(int place, struct stat *ret_stat)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	_cleanup_close_ int fd = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || (ret_stat && fstat(fd, ret_stat) < 0))
		return -errno;
	return TAKE_FD(fd);
}

static int open_place(int place, uint32_t pid, struct stat *ret_stat)
{
	struct statx known;
	int err = look_at(place, &known);

	if (err)
		return err;
	err = mounts_check_open(place, pid);
	return err ? err : open_known(place, ret_stat);
}

static int open_of(uint32_t pid, const char *path, struct stat *ret_stat)
{
	_cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);

	return place < 0 ? -errno : open_place(place, pid, ret_stat);
}

int reach_regular(const char *path, struct stat *ret_stat)
{
	return open_of(0, path, ret_stat);
}

static void link_of(uint32_t pid, uint64_t start, uint64_t end, char ret_link[MAX_LINK_BYTES])
{
	snprintf(ret_link, MAX_LINK_BYTES, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
	         start, end);
}

int reach_mapped(uint32_t pid, uint64_t start, uint64_t end, struct stat *ret_stat)
{
	char link[MAX_LINK_BYTES];

	link_of(pid, start, end, link);
	return open_of(pid, link, ret_stat);
}

static uint64_t space_of(uint32_t pid, const char *kind)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/%s", pid, kind);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

struct spaces_id reach_spaces(uint32_t pid)
{
	return (struct spaces_id){space_of(pid, "mnt"), space_of(pid, "user")};
}

uint64_t reach_began_boot_ns(uint32_t pid)
{
	const uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	uint64_t ticks;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return !buf_read_file(&bytes, path, MAX_STAT_BYTES) &&
	                       stat_number(buf_text(&bytes), bytes.len, STAT_START, &ticks)
	               ? ticks * tick_ns
	               : UINT64_MAX;
}

/* Identifies an open folder by what the kernel has in memory, because any user may serve its file
 * system. */
static struct root_id root_id_of(int fd)
{
	struct stamp stamp;

	return stamp_read(fd, &stamp) < 0 ? (struct root_id){0, 0}
	                                  : (struct root_id){stamp.device, stamp.inode};
}

static int open_root(uint32_t pid)
{
	char path[32] = "/";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

struct root_id reach_root_id(uint32_t pid)
{
	_cleanup_close_ int fd = open_root(pid);

	return root_id_of(fd);
}

bool reach_is_hosts(const struct root_id *root, uint64_t mounts)
{
	const uint32_t firsts[] = {1, (uint32_t)getpid()};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		const struct root_id first = reach_root_id(firsts[i]);

		if (first.inode && root->inode == first.inode && root->device == first.device &&
		    mounts && mounts == space_of(firsts[i], "mnt"))
			return true;
	}
	return false;
}

bool reach_sees_hosts(uint32_t pid)
{
	const struct root_id root = reach_root_id(pid);

	return reach_is_hosts(&root, space_of(pid, "mnt"));
}

int reach_root(uint32_t pid)
{
	_cleanup_close_ int fd = open_root(pid);
	const struct root_id root = root_id_of(fd), own = reach_root_id(0);

	if (fd < 0 || !root.inode || (root.device == own.device && root.inode == own.inode))
		return -ENOENT;
	int err = mounts_check_ask(fd, pid);
	return err ? err : TAKE_FD(fd);
}

int reach_below(int root, const char *path, struct stat *ret_stat)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	_cleanup_close_ int place = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (place < 0)
		return -errno;
	/* The file is on the file system of the root folder, which reach_root() has checked. */
	struct statx known;
	int err = look_at(place, &known);
	return err ? err : open_known(place, ret_stat);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Compares names, for a file whose numbers differ from the kernel's: on an overlay the numbers in
 * records sometimes differ from those in /proc, but the name is the same. */
static bool has_its_name(const char *link, const struct place *place)
{
	char target[MAX_PATH_BYTES], now[MAX_PATH_BYTES], then[MAX_PATH_BYTES];
	ssize_t len = readlink(link, target, sizeof(target) - 1);

	if (len < 0)
		return false;
	target[len] = '\0';
	reach_path(target, now);
	reach_path(place->path, then);
	return !strcmp(last_part(now), last_part(then));
}

static bool is_it(const struct place *place, int fd, const struct stat *st)
{
	return !place->file.inode || kernel_file_is(&place->file, fd, st);
}

/* Opens the file of the mapping. A process that has called exec() or mapped something else since
 * then may have another file at the same addresses. */
static int open_mapped(const struct place *place, bool *ret_is_it)
{
	char link[MAX_LINK_BYTES];
	struct stat st;

	link_of(place->pid, place->start, place->end, link);
	_cleanup_close_ int fd = open_of(place->pid, link, &st);
	if (fd < 0)
		return fd;
	*ret_is_it = is_it(place, fd, &st);
	return *ret_is_it || has_its_name(link, place) ? TAKE_FD(fd) : -ESTALE;
}

/* A file of the same name and inode number, on whatever device, may be another one: a symbolic link
 * leads anywhere. Names come of it only if the user could have read it. */
static bool may_read(uint32_t user, const struct stat *st)
{
	const mode_t all = S_IRUSR | S_IRGRP | S_IROTH;

	return !user || st->st_uid == user || (st->st_mode & all) == all;
}

static int open_named(const struct place *place, bool in_root, bool *ret_is_it)
{
	char path[MAX_PATH_BYTES];
	char prefix[32] = "";
	struct stat st;

	/* Without a number of the inode any file could be it. */
	if (place->path[0] != '/' || !place->file.inode)
		return -ENOENT;
	if (in_root)
		snprintf(prefix, sizeof(prefix), "/proc/%" PRIu32 "/root", place->pid);
	int len = snprintf(path, sizeof(path), "%s%s", prefix, place->path);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	_cleanup_close_ int fd = open_of(place->pid, path, &st);
	if (fd < 0)
		return fd;
	*ret_is_it = is_it(place, fd, &st);
	return *ret_is_it || (st.st_ino == place->file.inode && may_read(place->user, &st))
	               ? TAKE_FD(fd)
	               : -ESTALE;
}

int reach_open(const struct place *place, bool *ret_is_it)
{
	int fd = open_mapped(place, ret_is_it);

	/* A mapped device is not an executable under any other name. A file that a user's program
	 * serves, or that has a lease on it, must not be opened by any name. What is short is so
	 * for any name. */
	if (fd >= 0 || fd == -ENOEXEC || fd == -EOPNOTSUPP || fd == -EWOULDBLOCK ||
	    mounts_is_short(fd))
		return fd;
	fd = open_named(place, true, ret_is_it);
	if (fd >= 0 || mounts_is_short(fd))
		return fd;
	return open_named(place, false, ret_is_it);
}

int reach_vdso(struct object **ret_object)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);

	if (!base)
		return -ENOENT;
	/* The address is an integer from the kernel; there is no pointer to derive it from. */
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(base + header->e_phoff);
	size_t len = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;

	for (size_t i = 0; i < header->e_phnum; i++) {
		size_t end = segments[i].p_offset + segments[i].p_filesz;
		if (segments[i].p_type == PT_LOAD && end > len)
			len = end;
	}
	return object_open_bytes(header, len, "[vdso]", ret_object);
}
