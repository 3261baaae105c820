/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Does a kind of work COUNT times and exits; `make bench` measures its CPU time. With a COUNT of 0
 * it never ends.
 *
 *   fixed_work exec|fork|touch|map|cpu|pingpong|getppid COUNT
 *   fixed_work run COUNT PROGRAM ARGUMENT...
 */
#include "work.h"

#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, TOUCHED = 16 << 20, MAPPED = 64 << 10, SLICE = 1000 };

static char **program;       /* for "run" */
static int ping[2], pong[2]; /* for "pingpong" */

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void wait_for(pid_t child)
{
	int status;

	must(waitpid(child, &status, 0) == child, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "%s failed\n", program[0]);
		exit(1);
	}
}

static void run_once(void)
{
	extern char **environ;
	pid_t child;

	must(posix_spawnp(&child, program[0], NULL, NULL, program, environ) == 0, program[0]);
	wait_for(child);
}

static void fork_once(void)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (child == 0)
		_exit(0);
	wait_for(child);
}

/* Touches 16 MiB in pages of 4 KiB, each of them new to this process. */
static void touch_once(void)
{
	char *memory =
		mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	madvise(memory, TOUCHED, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < TOUCHED; at += PAGE)
		*(volatile char *)(memory + at) = 1;
	munmap(memory, TOUCHED);
}

static void map_once(void)
{
	void *memory =
		mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	munmap(memory, MAPPED);
}

static __attribute__((noipa)) void compute_once(void)
{
	WORK(SLICE);
}

static void pass_once(void)
{
	char byte = 0;

	must(write(ping[1], &byte, 1) == 1 && read(pong[0], &byte, 1) == 1, "pipe");
}

static void ask_once(void)
{
	syscall(SYS_getppid);
}

/* Stays on one CPU: across two CPUs, waking the idle one would take most of the time. */
static void stay_on_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Starts the other process of "pingpong", which ends when this one has ended. */
static pid_t start_answering(void)
{
	char byte;

	stay_on_this_cpu();
	must(pipe(ping) == 0 && pipe(pong) == 0, "pipe");

	pid_t child = fork();

	must(child >= 0, "fork");
	if (child != 0)
		return child;
	close(ping[1]);
	while (read(ping[0], &byte, 1) == 1 && write(pong[1], &byte, 1) == 1)
		;
	_exit(0);
}

static char *just_ends[] = {"/bin/true", NULL};

static const struct {
	const char *name;
	void (*once)(void);
} kinds[] = {
	{"exec", run_once}, {"run", run_once},     {"fork", fork_once},     {"touch", touch_once},
	{"map", map_once},  {"cpu", compute_once}, {"pingpong", pass_once}, {"getppid", ask_once},
};

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	uint64_t left = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	pid_t other = 0;

	program = argc > 3 ? argv + 3 : just_ends;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, kind) != 0)
			continue;
		if (strcmp(kind, "pingpong") == 0)
			other = start_answering();
		/* A COUNT of 0 wraps around to 2^64, which is never reached. */
		do
			kinds[i].once();
		while (--left != 0);
		if (other != 0) {
			close(ping[1]);
			wait_for(other);
		}
		return 0;
	}
	fprintf(stderr, "usage: %s KIND COUNT [PROGRAM ARGUMENT...]\n", argv[0]);
	return 2;
}
