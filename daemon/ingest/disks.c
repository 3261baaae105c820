/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "ingest/disks.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* include/linux/kdev_t.h */
enum { MINOR_BITS = 20 };

const char *disk_name(uint64_t device, char name[DISK_NAME_BYTES])
{
	unsigned int major = (unsigned int)(device >> MINOR_BITS);
	unsigned int minor = (unsigned int)device & ((1U << MINOR_BITS) - 1);
	char path[64], link[PATH_MAX];
	const char *last;
	ssize_t len;

	snprintf(name, DISK_NAME_BYTES, "%u:%u", major, minor);
	snprintf(path, sizeof(path), "/sys/dev/block/%s", name);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return name;
	link[len] = '\0';
	last = strrchr(link, '/');
	snprintf(name, DISK_NAME_BYTES, "%.*s", DISK_NAME_BYTES - 1, last ? last + 1 : link);
	return name;
}
