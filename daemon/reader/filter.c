/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A list of system calls, some with conditions on an argument. When a C library may use one of two
 * calls, both are in the list.
 */
#include "reader/filter.h"

#include "reader/opening.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#define HAS_SANITIZER                                                           \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	 __has_feature(undefined_behavior_sanitizer))
#else
#define HAS_SANITIZER 0
#endif

/* Allowed with any arguments. */
static const int plain[] = {
	/* The socket, and the files that arrive through it. */
	SCMP_SYS(ppoll),
	SCMP_SYS(recvmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendto),
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(readv),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(statx),
	SCMP_SYS(stat),
	SCMP_SYS(lstat),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getcwd),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(dup),
	SCMP_SYS(getdents64),
	SCMP_SYS(close),
	/* Memory. */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	/* Calls of the C library: locks, time, randomness, and exit. */
	SCMP_SYS(futex),
	SCMP_SYS(sched_yield),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo), /* qsort() determines how much memory there is */
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

/* Opening must not write or create a file, and must use O_NONBLOCK; see opening.h. */
enum {
	OPEN_MASK =
		O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY) | O_NONBLOCK,
	OPEN_AT_ONCE = O_RDONLY | O_NONBLOCK,
	OPEN_MAY_WAIT = O_RDONLY,
};

/* Calls with a condition on one argument: (argument & mask) == value. */
struct conditional {
	int call;
	struct scmp_arg_cmp condition;
};

static const struct conditional conditional[] = {
	{SCMP_SYS(open), {1, SCMP_CMP_MASKED_EQ, OPEN_MASK, OPEN_AT_ONCE}},
	{SCMP_SYS(openat), {2, SCMP_CMP_MASKED_EQ, OPEN_MASK, OPEN_AT_ONCE}},
	{SCMP_SYS(mmap), {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}},
	{SCMP_SYS(mprotect), {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}},
	/* Not the commands that set which process gets a signal when data arrives at the socket,
         * and which signal: that would be the daemon, because both ends are its descriptors. */
	{SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_DUPFD, 0}},
	{SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0}},
	{SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_GETFD, 0}},
	{SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_SETFD, 0}},
	{SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_GETFL, 0}},
	/* Error messages before it ends. */
	{SCMP_SYS(write), {0, SCMP_CMP_EQ, STDERR_FILENO, 0}},
	{SCMP_SYS(writev), {0, SCMP_CMP_EQ, STDERR_FILENO, 0}},
};

/* Calls that raise SIGSYS and are made by opening.c instead. */
static const struct conditional trapped[] = {
	{SCMP_SYS(open), {1, SCMP_CMP_MASKED_EQ, OPEN_MASK, OPEN_MAY_WAIT}},
	{SCMP_SYS(openat), {2, SCMP_CMP_MASKED_EQ, OPEN_MASK, OPEN_MAY_WAIT}},
};

static int add_conditional(scmp_filter_ctx filter, uint32_t action, const struct conditional *rules,
                           size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = seccomp_rule_add_array(filter, action, rules[i].call, 1, &rules[i].condition);
	return err;
}

static int add_rules(scmp_filter_ctx filter)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain[i], 0);
	if (!err)
		err = add_conditional(filter, SCMP_ACT_ALLOW, conditional,
		                      sizeof(conditional) / sizeof(conditional[0]));
	if (!err)
		err = add_conditional(filter, SCMP_ACT_TRAP, trapped,
		                      sizeof(trapped) / sizeof(trapped[0]));
	return err;
}

bool filter_works(void)
{
	return !HAS_SANITIZER;
}

int filter_install(void)
{
	if (!filter_works())
		return 0;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!filter)
		return -ENOMEM;
	int err = opening_install();
	if (!err)
		err = add_rules(filter);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
