/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The room: entering it removes what was left in it, and a process that has entered it can open
 * only what fetching needs. Each process that enters is a separate child.
 */
#include "fetch/room.h"

#include "base/cleanup.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static int parent, room;

static void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/profd-test-room-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(parent, 0);
	room = room_open(parent);
	ck_assert_int_ge(room, 0);
}

static void tear_down(void)
{
	char command[128];

	close(room);
	close(parent);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* 0, or the errno with which a process that has entered the room fails to open the path. */
static int open_inside(const char *path, int flags)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || room_enter(room))
			_exit(255);
		_exit(open(path, flags | O_CLOEXEC, 0600) < 0 ? errno : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(only_the_daemon_enters)
{
	struct stat outer, inner;

	ck_assert_int_eq(fstatat(parent, "fetching", &outer, 0), 0);
	ck_assert_uint_eq(outer.st_mode & 0777, 0700);
	ck_assert_int_eq(fstat(room, &inner), 0);
	ck_assert_uint_eq(inner.st_mode & 0777, geteuid() == 0 ? 0777 : 0700);
	_cleanup_close_ int again = room_open(parent);
	ck_assert_int_ge(again, 0);
}
END_TEST

START_TEST(elsewhere)
{
	char beside[128];
	int refusal = has_landlock() ? EACCES : 0;

	snprintf(beside, sizeof(beside), "%s/beside", folder);
	_cleanup_close_ int fd = open(beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(open_inside("new", O_WRONLY | O_CREAT | O_EXCL), 0);
	ck_assert_int_eq(open_inside(beside, O_RDONLY), refusal);
	ck_assert_int_eq(open_inside(beside, O_WRONLY), refusal);
	ck_assert_int_eq(open_inside("../../beside", O_RDONLY), refusal);
	ck_assert_int_eq(open_inside("/etc/passwd", O_RDONLY), refusal);
	ck_assert_int_eq(open_inside("/proc/self/environ", O_RDONLY), refusal);
	ck_assert_int_eq(open_inside("/etc/nsswitch.conf", O_RDONLY), 0);
	ck_assert_int_eq(open_inside("/usr/bin", O_RDONLY | O_DIRECTORY), 0);
}
END_TEST

START_TEST(cleared)
{
	ck_assert_int_eq(mkdirat(room, "0123", 0700), 0);
	_cleanup_close_ int fd = openat(room, "0123/part", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	_cleanup_close_ int other = openat(room, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
	ck_assert_int_ge(other, 0);
	/* Removing a symbolic link does not remove its target. */
	ck_assert_int_eq(symlinkat("/usr", room, "link"), 0);
	ck_assert_int_eq(open_inside("/usr/bin", O_RDONLY | O_DIRECTORY), 0);
	ck_assert_int_eq(faccessat(room, "0123", F_OK, 0), -1);
	ck_assert_int_eq(faccessat(room, "file", F_OK, 0), -1);
	ck_assert_int_eq(faccessat(room, "link", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	ck_assert_int_eq(access("/usr/bin", F_OK), 0);
}
END_TEST

Suite *fetch_room_suite(void)
{
	Suite *suite = suite_create("fetch_room");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, only_the_daemon_enters);
	tcase_add_test(tcase, elsewhere);
	tcase_add_test(tcase, cleared);
	suite_add_tcase(suite, tcase);
	return suite;
}
