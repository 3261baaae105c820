/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a process may do after it has forbidden itself everything with Landlock, and on a kernel
 * without Landlock. Each attempt is made in a separate child. If this kernel lacks Landlock or some
 * of its rights, nothing is refused.
 */
#include "reader/landlock.h"

#include "base/cleanup.h"
#include "tests/unit/suites.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0, or the errno. */
typedef int attempt_fn(int given);

static int result_of(long returned)
{
	return returned < 0 ? errno : 0;
}

static int read_given(int given)
{
	char byte;

	return result_of(pread(given, &byte, 1, 0));
}

static int read_file(int given)
{
	(void)given;
	return result_of(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int read_folder(int given)
{
	(void)given;
	return result_of(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int write_file(int given)
{
	(void)given;
	return result_of(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int make_file(int given)
{
	(void)given;
	return result_of(open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
}

/* Connects to a port on which no process listens. */
static int connect_tcp(int given)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(1), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)given;
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) && errno == EACCES ? EACCES : 0;
}

static const struct sockaddr_un unnamed = {AF_UNIX, "\0profd-test-landlock"};

static int connect_unix(int given)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)given;
	return connect(fd, (const struct sockaddr *)&unnamed, sizeof(unnamed)) && errno == EPERM
	               ? EPERM
	               : 0;
}

static int signal_parent(int given)
{
	(void)given;
	return result_of(kill(getppid(), 0));
}

/* `refusal` is the errno if the kernel knows the rights and they are forbidden. */
static const struct attempt {
	attempt_fn *fn;
	struct landlock_rights by;
	int refusal;
} attempts[] = {
	{read_given, {0}, 0},
	{read_file, {.files = LANDLOCK_ACCESS_FS_READ_FILE}, EACCES},
	{read_folder, {.files = LANDLOCK_ACCESS_FS_READ_DIR}, EACCES},
	{write_file, {.files = LANDLOCK_ACCESS_FS_WRITE_FILE}, EACCES},
	{make_file, {.files = LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_WRITE_FILE}, EACCES},
	{connect_tcp, {.tcp = LANDLOCK_TCP_CONNECT}, EACCES},
	{connect_unix, {.scopes = 1 << 0}, EPERM},
	{signal_parent, {.scopes = 1 << 1}, EPERM},
};

static int try(const struct attempt *attempt, const struct landlock_rights *forbidden)
{
	_cleanup_close_ int given = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_forbid(forbidden))
			_exit(255);
		_exit(attempt->fn(given));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(forbidden)
{
	const struct attempt *attempt = &attempts[_i];
	struct landlock_rights all = landlock_known(), others = all;
	_cleanup_close_ int heard = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool counts = (attempt->by.files & all.files) || (attempt->by.tcp & all.tcp) ||
	              (attempt->by.scopes & all.scopes);

	ck_assert_int_eq(bind(heard, (const struct sockaddr *)&unnamed, sizeof(unnamed)), 0);
	ck_assert_int_eq(listen(heard, 1), 0);
	if (!counts && attempt->refusal)
		printf("landlock: this kernel knows nothing of attempt %d\n", _i);
	ck_assert_int_eq(try(attempt, &all), counts ? attempt->refusal : 0);
	/* These rights refuse the attempt, and no others do. */
	others.files &= ~attempt->by.files;
	others.tcp &= ~attempt->by.tcp;
	others.scopes &= ~attempt->by.scopes;
	ck_assert_int_eq(try(attempt, &others), 0);
}
END_TEST

/* A filter that the child installs imitates a kernel on which Landlock fails with this error. */
static int forbid_without(int error)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)error),
	                     SCMP_SYS(landlock_create_ruleset), 0) ||
	    seccomp_load(filter))
		return 255;
	struct landlock_rights known = landlock_known();

	if (known.files || known.tcp || known.scopes || landlock_forbid(&known))
		return 254;
	return read_file(-1);
}

static const int absences[] = {ENOSYS, EOPNOTSUPP, EPERM};

START_TEST(absent)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(forbid_without(absences[_i]));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

Suite *landlock_suite(void)
{
	Suite *suite = suite_create("landlock");
	TCase *tcase = tcase_create("all");

	tcase_add_loop_test(tcase, forbidden, 0, sizeof(attempts) / sizeof(attempts[0]));
	tcase_add_loop_test(tcase, absent, 0, sizeof(absences) / sizeof(absences[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
