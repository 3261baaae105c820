/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds out the capabilities and namespaces of this process, then runs the trial, whose result
 * depends on them.
 */
#include "doctor/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The namespaces that the kernel creates when it boots: include/linux/proc_ns.h. */
static const struct {
	const char *name;
	unsigned long inode;
} first_namespaces[] = {
	{"user", 0xeffffffd},
	{"pid", 0xeffffffc},
};

bool host_in_own_namespace(const char *name)
{
	char path[64], link[64];
	unsigned long inode;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return false;
	link[len] = '\0';
	if (!strchr(link, '[') || sscanf(strchr(link, '['), "[%lu]", &inode) != 1)
		return false;
	for (size_t i = 0; i < sizeof(first_namespaces) / sizeof(first_namespaces[0]); i++)
		if (!strcmp(first_namespaces[i].name, name))
			return inode != first_namespaces[i].inode;
	return false;
}

int host_read_line(const char *path, char *line, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, line, size - 1);

	if (len < 0)
		return -errno;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static uint64_t read_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

bool capability_in(uint64_t capabilities, enum host_capability capability)
{
	static const int numbers[HOST_CAPABILITY_COUNT] = {
#define CAPABILITY(number, name, when, why, without, needed) [HOST_CAP_##number] = CAP_##number,
		CAPABILITIES(CAPABILITY)
#undef CAPABILITY
	};
	bool was_admin = capability == HOST_CAP_BPF || capability == HOST_CAP_PERFMON ||
	                 capability == HOST_CAP_CHECKPOINT_RESTORE;

	return (capabilities >> numbers[capability] & 1) ||
	       (was_admin && (capabilities >> CAP_SYS_ADMIN & 1));
}

bool host_has(const struct host *host, enum host_capability capability)
{
	return capability_in(host->capabilities, capability);
}

void host_find(struct host *host, const struct doctor_options *options)
{
	*host = (struct host){.options = options};
	uname(&host->name);
	host->own_users = host_in_own_namespace("user");
	if (!host->own_users)
		host->capabilities = read_capabilities();
	others_find(&host->others);
	trial_run(&host->trial, options->sample_hz,
	          host_has(host, HOST_CAP_BPF) && host_has(host, HOST_CAP_PERFMON));
}

void host_release(struct host *host)
{
	trial_release(&host->trial);
}
