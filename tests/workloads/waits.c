/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: the main thread waits by a schedule, in rounds: sleeps() for 150 ms, reads() a pipe that
 * is written to 100 ms after it has asked, and locks() the mutex locked[2] that another thread then
 * holds for 50 ms more; computes() takes 20 ms of CPU time. The thread "helper" sleeps, but for the
 * time in which it waits for the next question. The thread "blocked" waits for a condition that
 * never comes.
 */
#include "work.h"

#include <pthread.h>
#include <unistd.h>

enum { MSEC = 1000 * 1000, SLEEPS = 150, READS = 100, LOCKS = 50, COMPUTES = 20 };

static int question[2], answer[2], held[2];
static struct {
	pthread_mutex_t mutex;
} locked[3];
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void pause_ms(long ms)
{
	const struct timespec pause = {.tv_nsec = ms * MSEC};

	nanosleep(&pause, NULL);
}

static char get(int fd)
{
	char byte = 0;

	if (read(fd, &byte, 1) != 1)
		exit(0);
	return byte;
}

static void put(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		exit(0);
}

static __attribute__((noipa)) void sleeps(void)
{
	pause_ms(SLEEPS);
}

static __attribute__((noipa)) void reads(void)
{
	get(answer[0]);
}

static __attribute__((noipa)) void locks(void)
{
	pthread_mutex_lock(&locked[2].mutex);
	__asm__ volatile("" : : : "memory");
	pthread_mutex_unlock(&locked[2].mutex);
}

static __attribute__((noipa)) void computes(void)
{
	double end = seconds_now(CLOCK_THREAD_CPUTIME_ID) + COMPUTES / 1e3;

	while (seconds_now(CLOCK_THREAD_CPUTIME_ID) < end)
		WORK(1000);
}

static void *help(void *unused)
{
	pthread_setname_np(pthread_self(), "helper");
	for (;;) {
		if (get(question[0]) == 'r') {
			pause_ms(READS);
			put(answer[1], 0);
			continue;
		}
		pthread_mutex_lock(&locked[2].mutex);
		put(held[1], 0);
		pause_ms(LOCKS);
		pthread_mutex_unlock(&locked[2].mutex);
	}
	return unused;
}

static void *block(void *unused)
{
	pthread_setname_np(pthread_self(), "blocked");
	pthread_mutex_lock(&never);
	for (;;)
		pthread_cond_wait(&condition, &never);
	return unused;
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	pthread_t threads[2];

	if (pipe(question) || pipe(answer) || pipe(held))
		return 1;
	if (pthread_create(&threads[0], NULL, help, NULL) ||
	    pthread_create(&threads[1], NULL, block, NULL))
		return 1;
	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		sleeps();
		put(question[1], 'r');
		reads();
		put(question[1], 'l');
		get(held[0]);
		locks();
		computes();
	}
	return 0;
}
