/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPUs: whether there is anything to observe, and whether NVIDIA's driver can be asked. The
 * driver's library is loaded but not called: a call would load the driver and make its device
 * files.
 */
#include "doctor/host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MAPPINGS = 64 * 1024 }; /* lines read per process */

static const char library[] = "/libcuda.so";

/* Whether a line of /proc/PID/maps is a mapping of CUDA's driver. */
static bool is_cuda(const char *line)
{
	const char *file = strrchr(line, '/');

	return file && !strncmp(file, library, strlen(library));
}

static bool maps_cuda(int pid)
{
	char path[64], line[4096];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	for (int i = 0; i < MAX_MAPPINGS && !found && fgets(line, sizeof(line), maps); i++)
		found = is_cuda(line);
	fclose(maps);
	return found;
}

/* Counts the processes that map CUDA's driver; `*ret_pid` is one of them. */
static size_t count_cuda(int *ret_pid)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && maps_cuda(pid)) {
			count++;
			*ret_pid = pid;
		}
	}
	if (folder)
		closedir(folder);
	return count;
}

void check_cuda(const struct host *host, struct finding *finding)
{
	int pid = 0;
	size_t count = count_cuda(&pid);

	if (count == 1)
		finding_good(finding, "process %d has libcuda.so.1 mapped", pid);
	else if (count)
		finding_good(finding, "%zu processes have libcuda.so.1 mapped, such as %d", count,
		             pid);
	/* With the capability, only few mappings cannot be read: those that a security module
	 * protects. check_maps() reports them. */
	else if (host->others.refused && !host_has(host, HOST_CAP_SYS_PTRACE))
		finding_bad(finding, FINDING_unknown, "Run profd as root, or with CAP_SYS_PTRACE",
		            "no process is known to have libcuda.so.1 mapped, but the mappings of "
		            "%zu processes cannot be read",
		            host->others.refused);
	else
		finding_good(finding, "no process has libcuda.so.1 mapped: profd attaches no "
		                      "probes until one does");
}

static bool is_library(const char *soname)
{
	void *handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);

	if (handle)
		dlclose(handle);
	return handle != NULL;
}

void check_nvml(const struct host *host, struct finding *finding)
{
	char driver[160];

	(void)host;
	if (host_read_line("/proc/driver/nvidia/version", driver, sizeof(driver)))
		finding_good(finding, "no NVIDIA driver is loaded");
	else if (!is_library("libnvidia-ml.so.1"))
		finding_bad(
			finding, FINDING_limited,
			"Install the libnvidia-ml.so.1 that matches the driver",
			"/gpu shows no figures of devices: libnvidia-ml.so.1 cannot be loaded; %s",
			driver);
	else if (!access("/dev/nvidiactl", R_OK | W_OK))
		finding_good(finding, "%s", driver);
	else
		finding_bad(finding, FINDING_limited,
		            errno == ENOENT ? "Give the service access: PrivateDevices=no and "
		                              "DeviceAllow=char-nvidia* rw, or --gpus for a "
		                              "container"
		                            : "Permit this user to read and write /dev/nvidia*",
		            "/gpu shows no figures of devices: /dev/nvidiactl: %s; %s",
		            strerror(errno), driver);
}
