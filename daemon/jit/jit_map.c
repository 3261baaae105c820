/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_map.h"

#include "base/clock.h"
#include "base/hash.h"
#include "jit/perf_map.h"
#include "object/path.h"
#include "object/reach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TAIL_BYTES = 64 };

#define OPEN_NS NSEC_PER_SEC

/* Whether the file was written since the program began, which is at `mono_ns` or, if that is not
 * known, when the process began. */
static bool is_since(const struct stat *status, uint32_t pid, uint64_t mono_ns)
{
	uint64_t written_ns =
		(uint64_t)status->st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)status->st_mtim.tv_nsec;
	uint64_t program_ns = clock_mono_ns() - mono_ns, process_ns = reach_began_boot_ns(pid);

	process_ns = clock_boot_ns() - process_ns;
	return written_ns + JIT_SLACK_NS + (program_ns < process_ns ? program_ns : process_ns) >=
	       clock_wall_ns();
}

static int open_named(const struct jit_where *where, int *ret_fd)
{
	struct path_root root = {.pid = where->pid, .is_for_daemon = true, .is_no_link = true};
	char folder[32], path[48];

	snprintf(folder, sizeof(folder), "/proc/%u/root", where->pid);
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu64 ".map", where->number);
	root.path = folder;
	root.until_ns = clock_mono_ns() + OPEN_NS;
	return path_open(&root, path, ret_fd);
}

int jit_map_open(struct jit_file *file, const struct jit_where *where)
{
	_cleanup_close_ int fd = -1;
	struct stat status;
	int err = open_named(where, &fd);

	if (err)
		return err;
	if (fstat(fd, &status))
		return -errno;
	/* Anybody may make links in /tmp, to any file. */
	if (!jit_file_is_of(&status, where->pid) || status.st_nlink > 1)
		return -EACCES;
	if (jit_file_is(file, &status))
		return 0;
	if (!is_since(&status, where->pid, where->began_ns))
		return -ESTALE;
	jit_file_take(file, TAKE_FD(fd), &status, 0);
	return 0;
}

static uint64_t hash_tail(const char *bytes, size_t len)
{
	size_t tail = len < TAIL_BYTES ? len : TAIL_BYTES;

	return hash_bytes(HASH_START, bytes + len - tail, tail);
}

static int append(struct text *text, struct jit_codes *told)
{
	struct perf_map_line line;
	int err = 0;

	while (!err && told->count < JIT_TOLD_EACH && perf_map_next(text, &line))
		err = jit_codes_append(told, line.start, line.size, line.name.at,
		                       (size_t)(line.name.end - line.name.at), NULL);
	return err;
}

/* Reads a piece of the file that begins with what was read last. Returns the length of that, and
 * sets `*ret_len` to the length of all. */
static ssize_t read_piece(struct jit_file *file, char *bytes, size_t *ret_len)
{
	size_t before = file->offset < TAIL_BYTES ? file->offset : TAIL_BYTES;
	ssize_t len = pread(file->fd, bytes, JIT_READ_BYTES, (off_t)(file->offset - before));

	if (len < 0)
		return -errno;
	*ret_len = (size_t)len;
	if ((size_t)len >= before && (!before || hash_tail(bytes, before) == file->tail))
		return (ssize_t)before;
	file->offset = 0;
	return read_piece(file, bytes, ret_len);
}

ssize_t jit_map_read(struct jit_file *file, struct jit_codes *told)
{
	_cleanup_free_ char *bytes = malloc(JIT_READ_BYTES);
	struct text text;
	ssize_t before;
	size_t len = 0, taken;
	int err;

	before = bytes ? read_piece(file, bytes, &len) : -ENOMEM;
	if (before < 0)
		return before;
	text = (struct text){bytes + before, bytes + len};
	err = append(&text, told);
	taken = (size_t)(text.at - bytes);
	/* A line that long describes nothing. */
	if (taken == (size_t)before && len == JIT_READ_BYTES && told->count < JIT_TOLD_EACH)
		taken = len;
	file->offset += taken - (size_t)before;
	file->tail = hash_tail(bytes, taken);
	return err ?: (ssize_t)len;
}
