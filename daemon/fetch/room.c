/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files that a process leaves in the room belong to that process's user, and a daemon without
 * capabilities cannot remove them: the next process does, as the same user.
 */
#include "fetch/room.h"

#include "base/cleanup.h"
#include "reader/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	MAX_DEPTH = 4, /* the library makes folders in the room, but none in those */
	FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

enum { READING = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR };

/* Libraries, host names, certificates, the time zone: files, and folders with all below them. Not
 * /etc, which may contain secrets of the daemon. */
static const char *const readable[] = {
	"/usr",
	"/lib",
	"/lib64",
	"/nix/store",
	"/gnu/store",
	"/etc/ssl",
	"/etc/pki",
	"/etc/ca-certificates",
	"/etc/crypto-policies",
	"/etc/gnutls",
	"/var/lib/ca-certificates",
	"/etc/resolv.conf",
	"/run/systemd/resolve",
	"/etc/hosts",
	"/etc/host.conf",
	"/etc/nsswitch.conf",
	"/etc/gai.conf",
	"/etc/services",
	"/etc/protocols",
	"/etc/localtime",
	"/etc/ld.so.cache",
	"/proc/sys/crypto",
	"/dev/null",
	"/dev/urandom",
};
/* Files that the operator may name in the environment. */
static const char *const named[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
                                    "DEBUGINFOD_HEADERS_FILE"};

static int make_folder(int folder, const char *name, mode_t mode)
{
	struct stat st;

	if (mkdirat(folder, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	_cleanup_close_ int fd = openat(folder, name, FOLDER);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* Independent of the umask. */
	if ((st.st_mode & 07777) != mode && fchmod(fd, mode) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int room_open(int folder)
{
	_cleanup_close_ int closed = make_folder(folder, "fetching", 0700);

	return closed < 0 ? closed : make_folder(closed, "room", geteuid() == 0 ? 0777 : 0700);
}

static void clear(int folder, unsigned int depth);

static void remove_entry(int folder, const char *name, unsigned int depth)
{
	if (unlinkat(folder, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
		return;
	int fd = openat(folder, name, FOLDER);
	if (fd < 0)
		return;
	clear(fd, depth + 1);
	unlinkat(folder, name, AT_REMOVEDIR);
}

/* Takes ownership of the descriptor. Entries that cannot be removed do no harm: they belong to the
 * user that these processes had before /etc/passwd changed. */
static void clear(int folder, unsigned int depth)
{
	DIR *entries = depth < MAX_DEPTH ? fdopendir(folder) : NULL;
	const struct dirent *entry;

	if (!entries) {
		close(folder);
		return;
	}
	while ((entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_entry(folder, entry->d_name, depth);
	closedir(entries);
}

static int allow(int rules, int fd, uint64_t accesses)
{
	const struct landlock_path_beneath_attr rule = {.allowed_access = accesses,
	                                                .parent_fd = fd};

	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
	               ? -errno
	               : 0;
}

/* Paths that do not exist are skipped. */
static int allow_reading(int rules, const char *path)
{
	struct stat st;
	_cleanup_close_ int fd = path ? open(path, O_PATH | O_CLOEXEC) : -1;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	return allow(rules, fd, S_ISDIR(st.st_mode) ? READING : LANDLOCK_ACCESS_FS_READ_FILE);
}

/* Does nothing on kernels without Landlock, and under service filters that do not know it. */
static int shut_in(int room)
{
	struct landlock_rights forbidden = landlock_known();

	if (!forbidden.files)
		return 0;
	/* The process may connect to servers. */
	forbidden.tcp &= ~(uint64_t)LANDLOCK_TCP_CONNECT;
	_cleanup_close_ int rules = landlock_rules(&forbidden);
	int err = rules < 0 ? rules : allow(rules, room, forbidden.files);
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]) && err == 0; i++)
		err = allow_reading(rules, readable[i]);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]) && err == 0; i++)
		err = allow_reading(rules, getenv(named[i]));
	return err < 0 ? err : landlock_enter(rules);
}

void room_clear(int room)
{
	int fd = openat(room, ".", FOLDER);

	if (fd >= 0)
		clear(fd, 0);
}

int room_enter(int room)
{
	if (fchdir(room) < 0)
		return -errno;
	room_clear(room);
	return shut_in(room);
}
