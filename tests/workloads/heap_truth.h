/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The truth that a heap workload reports about itself: a row every hundredth of a second in a file,
 * with the wall-clock time and, for each site, the bytes allocated since the start and the bytes
 * held. A test finds the rows at both ends of a profile's interval and subtracts them. The
 * functions here allocate no memory.
 */
#pragma once

#include "work.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_SITES = 16 };

struct site {
	const char *name; /* the function that calls the allocator */
	atomic_llong allocated, held;
};

static struct site sites[MAX_SITES];
static int truth_file = -1;

static inline void site_took(struct site *site, size_t size)
{
	atomic_fetch_add_explicit(&site->allocated, (long long)size, memory_order_relaxed);
	atomic_fetch_add_explicit(&site->held, (long long)size, memory_order_relaxed);
}

static inline void site_gave(struct site *site, size_t size)
{
	atomic_fetch_sub_explicit(&site->held, (long long)size, memory_order_relaxed);
}

static inline void truth_write(const char *text, size_t len)
{
	if (write(truth_file, text, len) != (ssize_t)len)
		_exit(3);
}

/* Writes "NANOSECONDS ALLOCATED HELD ALLOCATED HELD ...". */
static inline void truth_row(void)
{
	char row[MAX_SITES * 48 + 32];
	struct timespec now;
	int len;

	clock_gettime(CLOCK_REALTIME, &now);
	len = snprintf(row, sizeof(row), "%lld", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	for (struct site *site = sites; site < sites + MAX_SITES && site->name; site++)
		len += snprintf(row + len, sizeof(row) - (size_t)len, " %lld %lld",
		                (long long)atomic_load(&site->allocated),
		                (long long)atomic_load(&site->held));
	row[len++] = '\n';
	truth_write(row, (size_t)len);
}

/* Opens the file; its first line names the sites. */
static inline void truth_open(const char *path)
{
	char line[MAX_SITES * 32];
	int len = snprintf(line, sizeof(line), "time");

	truth_file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	for (struct site *site = sites; site < sites + MAX_SITES && site->name; site++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, " %s", site->name);
	line[len++] = '\n';
	truth_write(line, (size_t)len);
	truth_row();
}
