/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A line of mountinfo is "36 35 98:0 /root /point options tags... - type source super,options".
 */
#include "object/mounts.h"

#include "base/buf.h"
#include "base/text.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { MAX_MOUNTINFO_BYTES = 8 << 20 }; /* a host of containers has a few thousand mounts */

/* Skips the text up to and including the next space. */
static bool skip_word(struct text *line)
{
	const char *space = memchr(line->at, ' ', (size_t)(line->end - line->at));

	if (!space)
		return false;
	line->at = space + 1;
	return true;
}

static bool begins_with(const struct text *text, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(text->end - text->at) >= len && !memcmp(text->at, word, len);
}

static bool is_mount(struct text line, uint64_t id)
{
	uint64_t number;

	return id && text_decimal(&line, &number) && number == id;
}

static bool is_device(struct text line, dev_t device)
{
	uint64_t major, minor;

	return skip_word(&line) && skip_word(&line) && text_decimal(&line, &major) &&
	       text_char(&line, ':') && text_decimal(&line, &minor) && major == major(device) &&
	       minor == minor(device);
}

/* Searches the options of the file system itself, which come last. */
static bool says_root(const struct text *options)
{
	static const char key[] = "user_id=";
	const char *found =
		memmem(options->at, (size_t)(options->end - options->at), key, sizeof(key) - 1);
	struct text value;
	uint64_t user;

	if (!found)
		return false;
	value = (struct text){found + sizeof(key) - 1, options->end};
	return text_decimal(&value, &user) && user == 0;
}

static enum mount_kind kind_of(struct text line)
{
	const char *dash = memmem(line.at, (size_t)(line.end - line.at), " - ", 3);
	bool fuse;

	if (!dash)
		return MOUNT_UNKNOWN;
	line.at = dash + 3;
	if (begins_with(&line, "overlay "))
		return MOUNT_OVERLAY;
	fuse = begins_with(&line, "fuse");
	if (!skip_word(&line) || !skip_word(&line))
		return MOUNT_UNKNOWN;
	if (!fuse)
		return MOUNT_PLAIN;
	return says_root(&line) ? MOUNT_OF_A_ROOT : MOUNT_OF_USER;
}

enum mount_kind mounts_find(const char *bytes, size_t len, uint64_t id, dev_t device)
{
	enum mount_kind by_device = MOUNT_UNKNOWN;
	const char *end = bytes + len;

	for (const char *at = bytes; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const struct text line = {at, newline ? newline : end};

		if (is_mount(line, id))
			return kind_of(line);
		if (by_device == MOUNT_UNKNOWN && is_device(line, device))
			by_device = kind_of(line);
		at = line.end + 1;
	}
	return by_device;
}

/* The daemon's own mounts. The text is read again after a mount has changed, which the kernel
 * reports to a process that polls the file. */
static struct {
	pthread_mutex_t lock; /* everything below */
	int fd;               /* -1: not opened yet */
	struct buf text;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static const char own_path[] = "/proc/self/mountinfo";

static bool own_has_changed(void)
{
	struct pollfd watched = {.fd = own.fd, .events = POLLPRI};

	return poll(&watched, 1, 0) != 0;
}

static int read_own(void)
{
	int err;

	if (own.fd < 0)
		own.fd = open(own_path, O_RDONLY | O_CLOEXEC);
	else if (own.text.len && !own_has_changed())
		return 0;
	if (own.fd < 0)
		return -errno;
	buf_clear(&own.text);
	err = buf_read_file(&own.text, own_path, MAX_MOUNTINFO_BYTES);
	if (err)
		buf_clear(&own.text);
	return err;
}

/* The mount and device of a file, from what the kernel has in memory: no file system is asked. */
struct whereabouts {
	uint64_t mount;
	dev_t device;
};

static int find_out(int fd, struct whereabouts *ret_where)
{
	struct statx known;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &known))
		return -errno;
	*ret_where = (struct whereabouts){
		.mount = known.stx_mask & STATX_MNT_ID ? known.stx_mnt_id : 0,
		.device = makedev(known.stx_dev_major, known.stx_dev_minor),
	};
	return 0;
}

/* Where the following return an enum mount_kind or a negative errno, the latter says that the kind
 * cannot be found out now: mounts_is_short(). After any other error they return the kind. */

static int look_in_own(const struct whereabouts *where)
{
	int kind;

	pthread_mutex_lock(&own.lock);
	kind = read_own();
	if (!mounts_is_short(kind))
		kind = mounts_find(buf_text(&own.text), own.text.len, where->mount, where->device);
	pthread_mutex_unlock(&own.lock);
	return kind;
}

/* MOUNT_PLAIN if the mount namespace of the process belongs to the daemon's user namespace, so that
 * only root of that user namespace can mount in it, else MOUNT_OF_USER. */
static int kind_by_users(int process)
{
	_cleanup_close_ int mounts = openat(process, "ns/mnt", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int users = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct stat st, own_st;

	if (users < 0 || fstat(users, &st) || stat("/proc/self/ns/user", &own_st))
		return mounts_is_short(-errno) ? -errno : MOUNT_OF_USER;
	return st.st_dev == own_st.st_dev && st.st_ino == own_st.st_ino ? MOUNT_PLAIN
	                                                                : MOUNT_OF_USER;
}

static bool names_its_mounter(int kind)
{
	return kind == MOUNT_OVERLAY || kind == MOUNT_OF_A_ROOT;
}

/* Reads everything through one descriptor of the process's folder, so that the answers are about
 * the same process, even if its PID is reused meanwhile. */
static int look_in(uint32_t pid, const struct whereabouts *where)
{
	_cleanup_(buf_release) struct buf file = BUF_INIT;
	_cleanup_close_ int process = -1;
	char path[48];
	int kind, err;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return mounts_is_short(-errno) ? -errno : MOUNT_UNKNOWN;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/mountinfo", process);
	err = buf_read_file(&file, path, MAX_MOUNTINFO_BYTES);
	if (err)
		return mounts_is_short(err) ? err : MOUNT_UNKNOWN;
	kind = mounts_find(buf_text(&file), file.len, where->mount, where->device);
	if (!names_its_mounter(kind))
		return kind;
	return kind_by_users(process);
}

static int kind_at(int fd, uint32_t pid)
{
	struct whereabouts where;
	int err = find_out(fd, &where), kind;

	if (err)
		return mounts_is_short(err) ? err : MOUNT_OF_USER;
	/* A user's FUSE file system has no disk, so its device has major number 0. */
	if (major(where.device))
		return MOUNT_PLAIN;
	kind = look_in_own(&where);
	if (names_its_mounter(kind))
		return MOUNT_PLAIN;
	return kind == MOUNT_UNKNOWN && pid ? look_in(pid, &where) : kind;
}

/* For a file whose mount is not visible: memory (memfd_create), or a mount that is hidden on
 * purpose. fstatfs() does ask the file system, except on an overlay, which answers itself. */
static bool is_no_program(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type != FUSE_SUPER_MAGIC &&
	       system.f_type != OVERLAYFS_SUPER_MAGIC;
}

int mounts_check_open(int fd, uint32_t pid)
{
	int kind = kind_at(fd, pid);

	if (kind < 0)
		return kind;
	return kind == MOUNT_PLAIN || (kind == MOUNT_UNKNOWN && is_no_program(fd)) ? 0
	                                                                           : -EOPNOTSUPP;
}

int mounts_check_ask(int fd, uint32_t pid)
{
	int kind = kind_at(fd, pid);

	if (kind < 0)
		return kind;
	return kind == MOUNT_PLAIN ? 0 : -EOPNOTSUPP;
}
