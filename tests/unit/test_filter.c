/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * System calls of a process that has installed the filter, each in a separate child, which the
 * filter kills or not.
 */
#include "reader/filter.h"

#include "base/cleanup.h"
#include "reader/opening.h"
#include "tests/unit/lacks.h"
#include "tests/unit/suites.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char null[] = "/dev/null";

/* Arguments as the kernel takes them; those that are not given are 0. */
static const struct attempt {
	long call, arguments[6];
	bool allowed;
} attempts[] = {
	{SYS_openat, {AT_FDCWD, (long)null, O_RDONLY | O_CLOEXEC}, true},
	{SYS_openat, {AT_FDCWD, (long)null, O_RDONLY | O_DIRECTORY | O_NOFOLLOW}, true},
	{SYS_openat, {AT_FDCWD, (long)null, O_WRONLY}, false},
	{SYS_openat, {AT_FDCWD, (long)null, O_RDWR}, false},
	{SYS_openat, {AT_FDCWD, (long)null, O_RDONLY | O_CREAT, 0600}, false},
	{SYS_openat, {AT_FDCWD, (long)null, O_RDONLY | O_TRUNC}, false},
	{SYS_openat, {AT_FDCWD, (long)"/tmp", O_TMPFILE | O_RDWR, 0600}, false},
	{SYS_openat, {AT_FDCWD, (long)null, O_RDONLY | O_NONBLOCK}, true},
	{SYS_openat2, {AT_FDCWD, (long)null}, false},
	{SYS_unlinkat, {AT_FDCWD, (long)"/nonexistent"}, false},
	{SYS_write, {STDERR_FILENO, (long)null, 0}, true},
	{SYS_write, {STDOUT_FILENO, (long)null, 0}, false},
	{SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1}, true},
	{SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1}, false},
	{SYS_mprotect, {0, 4096, PROT_EXEC}, false},
	{SYS_memfd_create, {(long)null}, false},
	{SYS_clone, {SIGCHLD}, false},
	{SYS_clone3, {0}, false},
	{SYS_execve, {(long)"/nonexistent"}, false},
	{SYS_execveat, {AT_FDCWD, (long)"/nonexistent"}, false},
	{SYS_ptrace, {PTRACE_TRACEME}, false},
	{SYS_process_vm_readv, {1}, false},
	{SYS_kill, {1, 0}, false},
	{SYS_socket, {AF_UNIX, SOCK_STREAM}, false},
	{SYS_socketpair, {AF_UNIX, SOCK_STREAM}, false},
	{SYS_connect, {-1}, false},
	{SYS_bpf, {BPF_MAP_CREATE}, false},
	{SYS_perf_event_open, {0}, false},
	{SYS_io_uring_setup, {1}, false},
	{SYS_unshare, {0}, false},
	{SYS_setns, {-1}, false},
	{SYS_setuid, {0}, false},
	{SYS_prctl, {PR_SET_DUMPABLE, 1}, false},
	{SYS_ioctl, {STDERR_FILENO, 0}, false},
	{SYS_ioctl, {STDERR_FILENO, FIOASYNC}, false},
	{SYS_ioctl, {STDERR_FILENO, FIOSETOWN}, false},
	{SYS_fcntl, {STDERR_FILENO, F_DUPFD}, true},
	{SYS_fcntl, {STDERR_FILENO, F_DUPFD_CLOEXEC}, true},
	{SYS_fcntl, {STDERR_FILENO, F_GETFD}, true},
	{SYS_fcntl, {STDERR_FILENO, F_SETFD, FD_CLOEXEC}, true},
	{SYS_fcntl, {STDERR_FILENO, F_GETFL}, true},
	{SYS_fcntl, {-1, F_SETFL, O_ASYNC}, false},
	{SYS_fcntl, {-1, F_SETOWN, 1}, false},
	{SYS_fcntl, {-1, F_SETOWN_EX}, false},
	{SYS_fcntl, {-1, F_SETSIG, SIGKILL}, false},
	{SYS_fcntl, {-1, F_SETLEASE, F_RDLCK}, false},
	{SYS_fcntl, {-1, F_NOTIFY, DN_ACCESS}, false},
};

static int run(const struct attempt *attempt)
{
	const long *at = attempt->arguments;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || filter_install())
			_exit(1);
		syscall(attempt->call, at[0], at[1], at[2], at[3], at[4], at[5]);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(attempted)
{
	const struct attempt *attempt = &attempts[_i];
	int status = run(attempt);

	if (attempt->allowed || !filter_works())
		ck_assert_int_eq(status, 0);
	else
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
		              "call %ld ended with %#x", attempt->call, status);
}
END_TEST

/* For a process that loads a driver's library: the call is refused with EPERM, or allowed. */
static const struct attempt device_attempts[] = {
	{SYS_socket, {AF_UNIX, SOCK_STREAM}, true},
	{SYS_socket, {AF_INET, SOCK_STREAM}, false},
	/* The kernel reads only the lower half. */
	{SYS_socket, {1L << 32 | AF_INET, SOCK_STREAM}, false},
	{SYS_kill, {1, 0}, false},
	{SYS_tgkill, {1, 1, 0}, false},
	{SYS_execve, {(long)"/nonexistent"}, false},
};

/* The same for a process that talks to servers. */
static const struct attempt server_attempts[] = {
	{SYS_socket, {AF_INET, SOCK_STREAM}, true},
	{SYS_socket, {AF_INET6, SOCK_DGRAM}, true},
	{SYS_socket, {AF_NETLINK, SOCK_RAW}, true},
	{SYS_socket, {AF_UNIX, SOCK_STREAM}, false},
	{SYS_socket, {AF_PACKET, SOCK_RAW}, false},
	{SYS_socket, {1L << 32 | AF_UNIX, SOCK_STREAM}, false},
	{SYS_openat, {AT_FDCWD, (long)"/tmp", O_TMPFILE | O_RDWR}, true},
	{SYS_clone, {SIGCHLD}, false},
#ifdef SYS_fork
	{SYS_fork, {0}, false},
#endif
	{SYS_execve, {(long)"/nonexistent"}, false},
	{SYS_execveat, {AT_FDCWD, (long)"/nonexistent"}, false},
	{SYS_ptrace, {PTRACE_TRACEME}, false},
	{SYS_process_vm_readv, {1}, false},
	{SYS_process_vm_writev, {1}, false},
	{SYS_kill, {1, 0}, false},
	{SYS_tgkill, {1, 1, 0}, false},
	{SYS_bpf, {BPF_MAP_CREATE}, false},
	{SYS_perf_event_open, {0}, false},
	{SYS_mount, {0}, false},
	{SYS_umount2, {0}, false},
	{SYS_fsopen, {0}, false},
	{SYS_chroot, {0}, false},
	{SYS_unshare, {0}, false},
	{SYS_setns, {-1}, false},
	{SYS_setuid, {0}, false},
	{SYS_setgid, {0}, false},
	{SYS_setresuid, {0}, false},
	{SYS_setgroups, {0}, false},
	{SYS_kexec_load, {0}, false},
	{SYS_init_module, {0}, false},
	{SYS_finit_module, {-1}, false},
	{SYS_delete_module, {0}, false},
	{SYS_io_uring_setup, {1}, false},
	{SYS_memfd_create, {(long)null}, false},
	{SYS_listen, {-1}, false},
	{SYS_prctl, {PR_SET_PDEATHSIG, 0}, false},
	{SYS_prctl, {PR_SET_DUMPABLE, 1}, false},
	{SYS_prctl, {PR_GET_DUMPABLE}, true},
	{SYS_fcntl, {STDERR_FILENO, F_GETFL}, true},
	{SYS_fcntl, {STDERR_FILENO, F_SETOWN, 1}, false},
	{SYS_fcntl, {STDERR_FILENO, F_SETSIG, SIGKILL}, false},
	{SYS_ioctl, {STDERR_FILENO, FIOASYNC}, false},
};

static void attempt_with(int (*install)(void), const struct attempt *attempt)
{
	const long *at = attempt->arguments;
	int status;
	pid_t pid;

	if (host_lacks(filter_works(), "filters of system calls, which sanitizers do not go with"))
		return;
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || install())
			_exit(100);
		/* The child may signal its own threads. */
		if (syscall(SYS_tgkill, getpid(), gettid(), 0))
			_exit(101);
		_exit(syscall(attempt->call, at[0], at[1], at[2]) < 0 ? errno : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == (attempt->allowed ? 0 : EPERM),
	              "call %ld ended with %#x", attempt->call, status);
}

START_TEST(attempted_for_devices)
{
	attempt_with(filter_install_for_devices, &device_attempts[_i]);
}
END_TEST

START_TEST(attempted_for_servers)
{
	attempt_with(filter_install_for_servers, &server_attempts[_i]);
}
END_TEST

/* Opens a path in a child with the filter. Returns the errno of open(), or 0 if a byte could be
 * read. */
static int open_status(const char *path, uid_t trusted, int flags)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(10); /* in case it blocks */
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || filter_install())
			_exit(100);
		opening_trust(trusted);
		int fd = open(path, flags);
		char byte;
		_exit(fd < 0 ? errno : read(fd, &byte, 1) != 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "%s: %#x", path, status);
	return WEXITSTATUS(status);
}

/* Opening a file that libdw wants does not block, whatever is at its path. */
START_TEST(opened)
{
	char folder[] = "/tmp/profd-opening-XXXXXX", path[64], link[64];
	uid_t self = getuid();

	if (host_lacks(filter_works(), "filters of system calls, which sanitizers do not go with"))
		return;
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	ck_assert_int_eq(open_status(path, self, O_RDONLY), ENOENT);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(mkfifo(path, 0644), 0);
	ck_assert_int_eq(open_status(path, self, O_RDONLY), EACCES);
	ck_assert_int_eq(open_status(link, self, O_RDONLY | O_CLOEXEC), EACCES);
	ck_assert_int_eq(unlink(path), 0);
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	ck_assert_int_eq(open_status(path, self, O_RDONLY), 0);
	ck_assert_int_eq(open_status(link, self, O_RDONLY), 0);
	ck_assert_int_eq(open_status(link, self, O_RDONLY | O_NOFOLLOW), EACCES);
	ck_assert_int_eq(open_status(folder, self, O_RDONLY), EACCES);
	ck_assert_int_eq(open_status(null, self, O_RDONLY), EACCES);
	/* Opening does not wait for the holder of a lease either. */
	ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	signal(SIGIO, SIG_IGN);
	ck_assert_int_eq(open_status(path, self, O_RDONLY), EWOULDBLOCK);
	ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
	/* A file that belongs neither to root nor to the trusted user. */
	if (self == 0) {
		ck_assert_int_eq(fchown(fd, 1234, 1234), 0);
		ck_assert_int_eq(open_status(path, 1235, O_RDONLY), EACCES);
		ck_assert_int_eq(open_status(path, 1234, O_RDONLY), 0);
		ck_assert_int_eq(open_status(path, (uid_t)OPENING_ANY_OWNER, O_RDONLY), 0);
	}
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

Suite *filter_suite(void)
{
	Suite *suite = suite_create("filter");
	TCase *tcase = tcase_create("filter");

	tcase_add_loop_test(tcase, attempted, 0, sizeof(attempts) / sizeof(attempts[0]));
	tcase_add_loop_test(tcase, attempted_for_devices, 0,
	                    sizeof(device_attempts) / sizeof(device_attempts[0]));
	tcase_add_loop_test(tcase, attempted_for_servers, 0,
	                    sizeof(server_attempts) / sizeof(server_attempts[0]));
	tcase_add_test(tcase, opened);
	suite_add_tcase(suite, tcase);
	return suite;
}
