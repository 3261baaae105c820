/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: two threads use one CPU each, all the time and in user space, in first_thread_spins() and
 * second_thread_spins(). Runs until killed or for SECONDS.
 */
#include "work.h"

#include <pthread.h>

enum { SLICE = 1000 * 1000 };

#define SPINNER(name)                                                        \
	static __attribute__((noipa)) void *name(void *stop)                 \
	{                                                                    \
		while (seconds_now(CLOCK_MONOTONIC) < *(const double *)stop) \
			WORK(SLICE);                                         \
		return NULL;                                                 \
	}

SPINNER(first_thread_spins)
SPINNER(second_thread_spins)

int main(int argc, char **argv)
{
	double stop = deadline(argc, argv, 1);
	pthread_t second;

	say_ready();
	if (pthread_create(&second, NULL, second_thread_spins, &stop) != 0)
		return 1;
	first_thread_spins(&stop);
	pthread_join(second, NULL);
	return 0;
}
