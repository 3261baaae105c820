/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: the first thread starts others that live for about 20 ms each, and waits for them. Every
 * stack with thread_work in it is start_thread (libc's), thread_entry, thread_middle, thread_work.
 * Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <pthread.h>

enum { UNIT = 10 * 1000 * 1000, THREADS = 2 };

static FRAME void thread_work(void)
{
	SPIN(UNIT);
}

static FRAME void thread_middle(void)
{
	HOLD_REGISTERS_ACROSS(thread_work());
}

static FRAME void *thread_entry(void *unused)
{
	thread_middle();
	return unused;
}

static FRAME int run_threads(void)
{
	pthread_t threads[THREADS];
	int err = 0, count = 0;

	while (count < THREADS && !err) {
		err = pthread_create(&threads[count], NULL, thread_entry, NULL);
		if (!err)
			count++;
	}
	while (count > 0)
		pthread_join(threads[--count], NULL);
	return err;
}

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);

	say_ready();
	while (seconds_now(CLOCK_MONOTONIC) < stop) {
		if (run_threads() != 0)
			return 1;
	}
	return 0;
}
