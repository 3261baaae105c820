/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A line of mountinfo is "36 35 98:0 /root /point options tags... - type source super,options".
 */
#include "object/mounts.h"

#include "base/buf.h"
#include "base/text.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { MAX_MOUNTINFO_BYTES = 8 << 20 }; /* a host of containers has a few thousand mounts */

/* Skips to behind the next space. */
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

static bool is_device(struct text line, dev_t device)
{
	uint64_t major, minor;

	return skip_word(&line) && skip_word(&line) && text_decimal(&line, &major) &&
	       text_char(&line, ':') && text_decimal(&line, &minor) && major == major(device) &&
	       minor == minor(device);
}

/* Among the options of the file system itself, which come last. */
static bool is_mounted_by_root(const struct text *options)
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
	return fuse && !is_mounted_by_root(&line) ? MOUNT_OF_USER : MOUNT_PLAIN;
}

enum mount_kind mounts_find(const char *bytes, size_t len, dev_t device)
{
	const char *end = bytes + len;

	for (const char *at = bytes; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const struct text line = {at, newline ? newline : end};

		if (is_device(line, device))
			return kind_of(line);
		at = line.end + 1;
	}
	return MOUNT_UNKNOWN;
}

/* Our own mounts, read again after one has changed: the kernel says so to who polls the file. */
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

static void read_own(void)
{
	if (own.fd < 0)
		own.fd = open(own_path, O_RDONLY | O_CLOEXEC);
	else if (own.text.len && !own_has_changed())
		return;
	buf_clear(&own.text);
	if (buf_read_file(&own.text, own_path, MAX_MOUNTINFO_BYTES))
		buf_clear(&own.text);
}

static enum mount_kind look_in_own(dev_t device)
{
	enum mount_kind kind;

	pthread_mutex_lock(&own.lock);
	read_own();
	kind = mounts_find(buf_text(&own.text), own.text.len, device);
	pthread_mutex_unlock(&own.lock);
	return kind;
}

static enum mount_kind look_in(uint32_t pid, dev_t device)
{
	_cleanup_(buf_release) struct buf file = BUF_INIT;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);
	if (buf_read_file(&file, path, MAX_MOUNTINFO_BYTES))
		return MOUNT_UNKNOWN;
	return mounts_find(buf_text(&file), file.len, device);
}

/* Not mounted anywhere that can be seen: memory (memfd_create), or hidden on purpose. This does ask
 * the file system, unless it is an overlay, which answers for itself. */
static bool is_no_program(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type != FUSE_SUPER_MAGIC &&
	       system.f_type != OVERLAYFS_SUPER_MAGIC;
}

/* Only root mounts an overlay where our user namespace decides. */
static bool shares_users(uint32_t pid)
{
	char path[32];
	struct stat st, own_st;

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	return stat(path, &st) == 0 && stat("/proc/self/ns/user", &own_st) == 0 &&
	       st.st_ino == own_st.st_ino;
}

bool mounts_may_open(int fd, uint32_t pid, dev_t device)
{
	enum mount_kind kind;

	/* FUSE has no disk. */
	if (major(device))
		return true;
	kind = look_in_own(device);
	if (kind == MOUNT_OVERLAY)
		return true;
	if (kind == MOUNT_UNKNOWN && pid)
		kind = look_in(pid, device);
	if (kind == MOUNT_OVERLAY)
		return shares_users(pid);
	return kind == MOUNT_PLAIN || (kind == MOUNT_UNKNOWN && is_no_program(fd));
}
