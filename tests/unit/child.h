/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process that does nothing and has the test's mappings.
 */
#pragma once

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static inline uint32_t child_start(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return (uint32_t)pid;
}

static inline void child_end(uint32_t pid)
{
	ck_assert_int_eq(kill((pid_t)pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid((pid_t)pid, NULL, 0), (pid_t)pid);
}
