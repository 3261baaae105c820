/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stops one thread only. The others go on, so that the program behaves as it does when it is
 * profiled.
 */
#include "tests/bpf/target.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { MAX_THREADS = 4096 };

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int choose_thread(pid_t pid, uint32_t random, pid_t *ret_tid)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	pid_t tids[MAX_THREADS];
	struct dirent *entry;
	char path[64];
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) && count < MAX_THREADS) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			tids[count++] = tid;
	}
	if (count == 0)
		return -ESRCH;
	*ret_tid = tids[random % count];
	return 0;
}

#if defined(__x86_64__)
static void take_registers(const struct user_regs_struct *regs, struct target *target)
{
	const uint64_t in_order[] = {
		regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
		regs->rbp, regs->rsp, regs->r8,  regs->r9,  regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15, regs->rip,
	};

	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
		target->registers[i] = in_order[i];
}
#else
static void take_registers(const struct user_regs_struct *regs, struct target *target)
{
	for (size_t i = 0; i < 31; i++)
		target->registers[i] = regs->regs[i];
	target->registers[ARM64_REG_SP] = regs->sp;
	target->registers[ARM64_REG_PC] = regs->pc;
}
#endif

static int read_registers(struct target *target)
{
	struct user_regs_struct regs;
	struct iovec vector = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, target->tid, NT_PRSTATUS, &vector))
		return -errno;
	if (vector.iov_len != sizeof(regs))
		return -ENOTSUP; /* a 32-bit program */
	take_registers(&regs, target);
	return 0;
}

int target_stop(pid_t pid, uint32_t random, struct target *ret_target)
{
	struct target target = {.pid = pid};
	int status, err;

	err = choose_thread(pid, random, &target.tid);
	if (err)
		return err;
	if (ptrace(PTRACE_SEIZE, target.tid, NULL, NULL))
		return errno == ESRCH ? -EAGAIN : -errno;
	if (ptrace(PTRACE_INTERRUPT, target.tid, NULL, NULL) ||
	    waitpid(target.tid, &status, __WALL) != target.tid || !WIFSTOPPED(status))
		return -EAGAIN;
	/* This stop is not the requested one but a signal that is about to be delivered. It serves
	 * as well. */
	if (status >> 16 != PTRACE_EVENT_STOP)
		target.signal = WSTOPSIG(status);
	err = read_registers(&target);
	if (err) {
		target_release(&target);
		return err;
	}
	*ret_target = target;
	return 0;
}

int target_step(struct target *target)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, target->tid, NULL, (void *)(intptr_t)target->signal) ||
	    waitpid(target->tid, &status, __WALL) != target->tid || !WIFSTOPPED(status))
		return -ESRCH;
	/* SIGTRAP comes from the step. Any other signal is the program's own, and is delivered with
	 * the next step. */
	target->signal = status >> 16 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return read_registers(target);
}

void target_release(const struct target *target)
{
	ptrace(PTRACE_DETACH, target->tid, NULL, (void *)(intptr_t)target->signal);
}

int target_read(pid_t pid, uint64_t address, void *into, size_t len)
{
	struct iovec to = {into, len};
	struct iovec from = {(void *)(uintptr_t)address, len};
	ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

	return got >= 0 && (size_t)got == len ? 0 : -EFAULT;
}
