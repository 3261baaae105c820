/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The signal handler gets the registers of the system call that the kernel did not execute, and
 * puts the result into the register where the call would have left it.
 */
#include "reader/opening.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1 /* si_code; older C libraries do not have it */
#endif

enum { MAX_DIGITS = 10 };

static uid_t trusted = (uid_t)OPENING_ANY_OWNER;

void opening_trust(uid_t owner)
{
	trusted = owner;
}

static bool is_trusted(const struct stat *st)
{
	return trusted == (uid_t)OPENING_ANY_OWNER || st->st_uid == 0 || st->st_uid == trusted;
}

/* The path of a descriptor in /proc, made without stdio, which is not safe in a signal handler. */
static const char *link_of(int fd, char buffer[sizeof("/proc/self/fd/") + MAX_DIGITS])
{
	static const char folder[] = "/proc/self/fd/";
	char *at = buffer + sizeof(folder) - 1 + MAX_DIGITS;

	*at = '\0';
	do
		*--at = (char)('0' + fd % 10);
	while (fd /= 10);
	at -= sizeof(folder) - 1;
	memcpy(at, folder, sizeof(folder) - 1);
	return at;
}

int opening_open(int folder, const char *path, int flags)
{
	char buffer[sizeof("/proc/self/fd/") + MAX_DIGITS];
	struct stat st;
	/* With O_PATH the kernel does not open the file itself, of any type. */
	_cleanup_close_ int place =
		openat(folder, path,
	               O_PATH | O_NONBLOCK | O_CLOEXEC | (flags & (O_NOFOLLOW | O_DIRECTORY)));

	if (place < 0 || fstat(place, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !is_trusted(&st))
		return -EACCES;
	int fd = openat(AT_FDCWD, link_of(place, buffer), (flags & ~O_NOFOLLOW) | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

#if defined(__x86_64__)
static long argument(const ucontext_t *context, int number)
{
	static const int registers[] = {REG_RDI, REG_RSI, REG_RDX};

	return context->uc_mcontext.gregs[registers[number]];
}

static void set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}
#elif defined(__aarch64__)
static long argument(const ucontext_t *context, int number)
{
	return (long)context->uc_mcontext.regs[number];
}

static void set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.regs[0] = (unsigned long)result;
}
#else
#error "which registers a system call has its arguments and its result in"
#endif

static void on_call(int signal, siginfo_t *info, void *where)
{
	ucontext_t *context = where;
	int before = errno, first = 0;

	(void)signal;
	/* The filter sends no other calls here. */
	if (info->si_code != SYS_SECCOMP)
		__builtin_trap();
	int folder = AT_FDCWD;
	if (info->si_syscall == SYS_openat)
		folder = (int)argument(context, first++);
#ifdef SYS_open
	else if (info->si_syscall != SYS_open)
#else
	else
#endif
		__builtin_trap();
	/* A pointer in this process, which the kernel would have read as well. */
	const char *path = (const char *)argument(context, first);
	set_result(context, opening_open(folder, path, (int)argument(context, first + 1)));
	errno = before;
}

int opening_install(void)
{
	struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGSYS, &action, NULL) < 0 ? -errno : 0;
}
