/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cuda_helper/say.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct stat errors; /* what standard error was at the start; all 0 where it was closed */

void say_init(void)
{
	fstat(STDERR_FILENO, &errors);
}

/* Standard error may be a pipe whose other end is closed; the program must not be killed for
 * that. */
static void write_quietly(const char *line, size_t len)
{
	sigset_t pipe, before, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	if (write(STDERR_FILENO, line, len) < 0 && errno == EPIPE &&
	    !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A program that has closed its files may have another file of its own there. */
static bool has_errors(void)
{
	struct stat now;

	return fstat(STDERR_FILENO, &now) == 0 && now.st_dev == errors.st_dev &&
	       now.st_ino == errors.st_ino;
}

/* One call, so that lines of several threads or processes do not mix. */
void say(const char *format, ...)
{
	char line[512];
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (len > 0 && has_errors())
		write_quietly(line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}
