/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The order matters: limits come first, while they can be set; then the bounding set, while the
 * process has the capability for it; then user and capabilities; and last the settings that the
 * kernel resets when those change: that the process cannot be traced, and that it dies with the
 * daemon. Landlock comes after user and capabilities, because it requires no_new_privs, and because
 * finding the user requires reading files.
 */
#include "reader/confine.h"

#include "base/buf.h"
#include "base/text.h"
#include "reader/filter.h"
#include "reader/landlock.h"
#include "reader/user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* Three for each open file, and those that libdw opens for split DWARF. */
	MAX_DESCRIPTORS = 512,
	MAX_STATM_BYTES = 4096,
	MAX_NAME = 16,  /* of a task, including its NUL */
	STATM_DATA = 5, /* index of the field in statm */
};

static int close_others(int socket)
{
	/* A range that ends before it begins is an error. */
	if (socket > STDERR_FILENO + 1 &&
	    close_range(STDERR_FILENO + 1, (unsigned int)socket - 1, 0) < 0)
		return -errno;
	return close_range((unsigned int)socket + 1, ~0U, 0) < 0 ? -errno : 0;
}

/* The bytes that already count against RLIMIT_DATA; with AddressSanitizer these are terabytes. */
static int data_bytes(uint64_t *ret_bytes)
{
	struct buf statm = BUF_INIT;
	int err = buf_read_file(&statm, "/proc/self/statm", MAX_STATM_BYTES);
	struct text text = text_of(buf_text(&statm), statm.len), word;
	uint64_t pages = 0;

	for (int i = 0; err == 0 && i <= STATM_DATA; i++) {
		if (!text_word(&text, &word) || (i == STATM_DATA && !text_decimal(&word, &pages)))
			err = -EPROTO;
	}
	buf_release(&statm);
	if (err == 0)
		*ret_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return err;
}

/* When memory is short, the kernel should kill this process rather than the daemon. */
static void die_first(void)
{
	static const char most[] = "1000";
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	/* A failure does not matter. */
	if (fd >= 0 && write(fd, most, strlen(most)) < 0)
		return;
}

static int limit(int resource, uint64_t value)
{
	struct rlimit now;

	/* The limit may be lower already, and must not be raised. */
	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	if (value < now.rlim_max)
		now.rlim_max = value;
	now.rlim_cur = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &now) < 0 ? -errno : 0;
}

static int set_limits(const struct confinement *to)
{
	uint64_t base = 0, data;
	int err = data_bytes(&base);

	if (err < 0)
		return err;
	if (__builtin_add_overflow(base, to->max_bytes, &data))
		data = RLIM_INFINITY;
	const struct {
		int resource;
		uint64_t value;
	} limits[] = {
		{RLIMIT_DATA, data},
		{RLIMIT_CORE, 0},
		{RLIMIT_FSIZE, to->max_file_bytes},
		{RLIMIT_NPROC, to->max_threads},
		{RLIMIT_NOFILE, MAX_DESCRIPTORS},
	};
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && err == 0; i++)
		err = limit(limits[i].resource, limits[i].value);
	return err;
}

static bool may_change_user(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {{0}};
	const uint32_t needed = 1U << CAP_SETUID | 1U << CAP_SETGID;

	/* When this cannot be determined, the attempt to change the user shows it. */
	return syscall(SYS_capget, &header, words) < 0 || (words[0].effective & needed) == needed;
}

static int drop_user(unsigned int which)
{
	/* Only root can become another user. Root without these capabilities cannot, of which the
	 * daemon has warned. */
	if (geteuid() != 0 || !may_change_user())
		return 0;
	uint32_t id = user_pick(which);

	if (!id)
		return -EUSERS;
	return setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0
	               ? -errno
	               : 0;
}

/* The kernel refuses this without CAP_SETPCAP. With no_new_privs the set is of no use anyway. */
static void drop_bounding_set(void)
{
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
	     capability++) {
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return;
	}
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &header, none) < 0)
		return -errno;
	return 0;
}

/* Forbids opening files by name, because the process may run as the daemon's user, which has files
 * of its own. Not with sanitizers, which open files by name. */
static int forbid_names(const struct confinement *to)
{
	struct landlock_rights forbidden = landlock_known();

	if (to->loads_libraries || !filter_works())
		return 0;
	if (to->opens_files)
		forbidden.files &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_FILE;
	return landlock_forbid(&forbidden);
}

/* The daemon made the socket. When another process is the parent now, the daemon has died
 * already. */
static int die_with_daemon(int socket)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	return peer.pid == getppid() ? 0 : -ESRCH;
}

int confine(int socket, const struct confinement *to)
{
	char shown[MAX_NAME];
	int err = close_others(socket);

	if (err == 0)
		err = set_limits(to);
	if (err < 0)
		return err;
	/* Standard error may be a file. Beyond its size limit a message is lost, but the process
	 * goes on. */
	signal(SIGXFSZ, SIG_IGN);
	if (!to->environment)
		clearenv();
	snprintf(shown, sizeof(shown), "profd-%s", to->name);
	if (prctl(PR_SET_NAME, shown, 0, 0, 0) < 0 || chdir("/") < 0 ||
	    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + (int)to->niceness) < 0)
		return -errno;
	die_first();
	drop_bounding_set();
	err = drop_user(to->which_user);
	if (err == 0)
		err = drop_capabilities();
	if (err == 0)
		err = forbid_names(to);
	if (err < 0)
		return err;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return die_with_daemon(socket);
}
