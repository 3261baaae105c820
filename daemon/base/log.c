/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on standard error. A line is one write(), so lines of several threads and processes do not
 * mix. It contains only harmless text, because paths and names from outside end up in it.
 */
#include "base/log.h"

#include "base/clean.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer lines are truncated: a log line is for a person. */
enum { MAX_LINE_BYTES = 2048 };

static enum log_level max_level = LOG_LEVEL_INFO;

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error: ",
	[LOG_LEVEL_WARNING] = "warning: ",
	[LOG_LEVEL_INFO] = "",
	[LOG_LEVEL_DEBUG] = "debug: ",
};

void log_set_level(enum log_level level)
{
	__atomic_store_n(&max_level, level, __ATOMIC_RELAXED);
}

static size_t put_prefix(char *line, size_t size, enum log_level level)
{
	/* systemd sets it for services whose standard error is connected to the journal. */
	int len = getenv("JOURNAL_STREAM") ? snprintf(line, size, "<%d>", (int)level)
	                                   : snprintf(line, size, "profd: %s", level_names[level]);

	return len < 0 ? 0 : (size_t)len;
}

void log_write(enum log_level level, const char *format, ...)
{
	char line[MAX_LINE_BYTES];
	va_list args;

	if (level > __atomic_load_n(&max_level, __ATOMIC_RELAXED))
		return;

	int saved_errno = errno;
	size_t prefix = put_prefix(line, sizeof(line), level);
	va_start(args, format);
	vsnprintf(line + prefix, sizeof(line) - prefix, format, args);
	va_end(args);

	clean_text(line + prefix);
	size_t len = strlen(line);
	/* The newline takes the NUL's place. */
	line[len++] = '\n';
	/* A failure cannot be reported anywhere once standard error is gone. */
	ssize_t written = write(STDERR_FILENO, line, len);
	(void)written;
	errno = saved_errno;
}
