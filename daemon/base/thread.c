/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A thread inherits the signal mask of the thread that creates it.
 */
#include "base/thread.h"

#include "base/text.h"

#include <signal.h>
#include <unistd.h>

enum { MAX_SCHEDSTAT_BYTES = 128 };

static int create(pthread_t *ret_thread, const pthread_attr_t *attr, thread_fn *fn, void *ctx)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(ret_thread, attr, fn, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

int thread_start(pthread_t *ret_thread, thread_fn *fn, void *ctx)
{
	return create(ret_thread, NULL, fn, ctx);
}

int thread_start_detached(size_t stack_bytes, thread_fn *fn, void *ctx)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = -pthread_attr_init(&attr);

	if (err)
		return err;
	pthread_attr_setstacksize(&attr, stack_bytes);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = create(&thread, &attr, fn, ctx);
	pthread_attr_destroy(&attr);
	return err;
}

uint64_t thread_wait_ns(int schedstat)
{
	char bytes[MAX_SCHEDSTAT_BYTES];
	ssize_t len = pread(schedstat, bytes, sizeof(bytes), 0);
	struct text text = text_of(bytes, len > 0 ? (size_t)len : 0);
	uint64_t ran_ns, waited_ns;

	return text_decimal(&text, &ran_ns) && text_char(&text, ' ') &&
	                       text_decimal(&text, &waited_ns)
	               ? waited_ns
	               : 0;
}
