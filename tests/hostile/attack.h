/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the attack programs. Each prints "ready" after its attack has begun, and goes on until
 * it is killed; its children die with it. A failed step ends the program, so that a test of the
 * attack fails as well.
 */
#pragma once

#include "../workloads/work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static inline void need(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "attack: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline long number(int argc, char **argv, int index, long otherwise)
{
	return argc > index ? atol(argv[index]) : otherwise;
}

/* fork() for a child that dies with its parent. */
static inline pid_t fork_with(void)
{
	pid_t parent = getpid(), child = fork();

	need(child >= 0, "fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return child;
}

/* Maps one page of the file as executable, at any address. */
static inline char *map_page(int fd, off_t offset)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);

	need(page != MAP_FAILED, "mmap");
	return page;
}

static inline void rest(void)
{
	for (;;)
		pause();
}
