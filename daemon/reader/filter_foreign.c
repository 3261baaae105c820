/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The filters of processes that load foreign libraries. Not all system calls of such libraries are
 * known, so the filters list calls that the libraries do not need, which are refused. All other
 * calls are allowed; the processes have no capabilities.
 */
#include "reader/filter.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Refused to all of these processes. */
static const int refused[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(kcmp),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
};

/* Also refused to a process that talks to servers, because an attacker that takes that process over
 * comes from another host. Most of these calls require capabilities, too, but a kernel bug may
 * grant them. */
static const int refused_to_fetcher[] = {
	/* Becoming another user or group. */
	SCMP_SYS(setuid),
	SCMP_SYS(setgid),
	SCMP_SYS(setreuid),
	SCMP_SYS(setregid),
	SCMP_SYS(setresuid),
	SCMP_SYS(setresgid),
	SCMP_SYS(setfsuid),
	SCMP_SYS(setfsgid),
	SCMP_SYS(setgroups),
	SCMP_SYS(capset),
	/* Changing the view of the file system. */
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fspick),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(name_to_handle_at),
	SCMP_SYS(quotactl),
	SCMP_SYS(fanotify_init),
	/* Changes to the kernel and to the host. */
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(reboot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(acct),
	SCMP_SYS(syslog),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(adjtimex),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
	/* Other processes, and objects that outlive this process. */
	SCMP_SYS(process_madvise),
	SCMP_SYS(setpriority),
	SCMP_SYS(personality),
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(memfd_create),
	SCMP_SYS(memfd_secret),
	SCMP_SYS(shmget),
	SCMP_SYS(msgget),
	SCMP_SYS(semget),
	SCMP_SYS(mq_open),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(io_setup),
};

/* Calls that are refused to it only under a condition: (argument & mask) == value. For an int, the
 * kernel ignores the upper half of the register. */
struct conditional {
	int call;
	struct scmp_arg_cmp condition;
};

#define IS(argument, value)                                     \
	{                                                       \
		argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value \
	}

static const struct conditional some_refused_to_fetcher[] = {
	/* It may make threads, but no copies of itself. */
	{SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0}},
	/* It must end with the daemon, and must not become traceable. */
	{SCMP_SYS(prctl), IS(0, PR_SET_PDEATHSIG)},
	{SCMP_SYS(prctl), IS(0, PR_SET_DUMPABLE)},
	{SCMP_SYS(prlimit64), {0, SCMP_CMP_NE, 0, 0}},
	/* Setting which process gets a signal when data arrives at a socket: it may be the
         * daemon. */
	{SCMP_SYS(fcntl), IS(1, F_SETOWN)},
	{SCMP_SYS(fcntl), IS(1, F_SETOWN_EX)},
	{SCMP_SYS(fcntl), IS(1, F_SETSIG)},
	{SCMP_SYS(fcntl), IS(1, F_SETLEASE)},
	{SCMP_SYS(fcntl), IS(1, F_NOTIFY)},
	{SCMP_SYS(ioctl), IS(1, FIOASYNC)},
	{SCMP_SYS(ioctl), IS(1, FIOSETOWN)},
	{SCMP_SYS(ioctl), IS(1, SIOCSPGRP)},
	{SCMP_SYS(ioctl), IS(1, TIOCSTI)},
};

static int refuse(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	return err;
}

static int refuse_some(scmp_filter_ctx filter, const struct conditional *rules, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), rules[i].call, 1,
		                             &rules[i].condition);
	return err;
}

static int refuse_sockets(scmp_filter_ctx filter, const int *but, size_t but_count)
{
	int err = 0;

	for (int family = 0; family < AF_MAX && !err; family++) {
		const struct scmp_arg_cmp is_family = IS(0, (scmp_datum_t)family);
		bool refused_one = true;

		for (size_t i = 0; i < but_count; i++)
			refused_one &= but[i] != family;
		if (refused_one)
			err = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM),
			                             SCMP_SYS(socket), 1, &is_family);
	}
	return err;
}

/* A process may signal its own threads, because abort() does so. */
static int refuse_signals(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp is_other = {0, SCMP_CMP_NE, (scmp_datum_t)getpid(), 0};

	return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
	                              &is_other);
}

/* A library may use local sockets to communicate with its driver, but no network sockets. */
static int add_rules_for_devices(scmp_filter_ctx filter)
{
	static const int families[] = {AF_UNIX, AF_NETLINK};

	return refuse_sockets(filter, families, COUNT(families));
}

/* By AF_UNIX the process would reach services of this host, including the daemon; the C library
 * then uses DNS instead of resolvers with such a socket. By AF_NETLINK the C library finds the
 * addresses of the host. A filter cannot check the arguments of clone3(), which are in memory, so
 * the call fails as on a kernel that does not have it. */
static int add_rules_for_servers(scmp_filter_ctx filter)
{
	static const int families[] = {AF_INET, AF_INET6, AF_NETLINK};
	int err = refuse(filter, refused_to_fetcher, COUNT(refused_to_fetcher));

	if (!err)
		err = refuse_some(filter, some_refused_to_fetcher, COUNT(some_refused_to_fetcher));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return err ? err : refuse_sockets(filter, families, COUNT(families));
}

static int install(int (*add_rules)(scmp_filter_ctx filter))
{
	if (!filter_works())
		return 0;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return -ENOMEM;
	int err = refuse(filter, refused, COUNT(refused));
	if (!err)
		err = refuse_signals(filter);
	if (!err)
		err = add_rules(filter);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int filter_install_for_devices(void)
{
	return install(add_rules_for_devices);
}

int filter_install_for_servers(void)
{
	return install(add_rules_for_servers);
}
