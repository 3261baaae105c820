/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A libnvidia-ml.so.1 without a driver: two devices, of which the second is lost, and three
 * processes. It declares its types itself, so that a test fails if the daemon understands nvml.h
 * differently. NVML_FAKE selects other behaviour: "driver" has no driver, "hang" hangs, "crash"
 * crashes, "many" has more processes than a caller has room for, "odd" reports impossible values.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
	unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
	unsigned int gpu, memory;
} nvmlUtilization_t;

typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

typedef struct {
	unsigned int pid;
	unsigned long long timeStamp;
	unsigned int smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;

enum { SUCCESS, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

static int is(const char *mode)
{
	const char *set = getenv("NVML_FAKE");

	return set && !strcmp(set, mode);
}

const char *nvmlErrorString(int result);
int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned int *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned int length);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length);
int nvmlDeviceGetMemoryInfo(void *device, nvmlMemory_t *memory);
int nvmlDeviceGetUtilizationRates(void *device, nvmlUtilization_t *rates);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
                                            nvmlProcessInfo_t *infos);
int nvmlDeviceGetProcessUtilization(void *device, nvmlProcessUtilizationSample_t *samples,
                                    unsigned int *count, unsigned long long since);

const char *nvmlErrorString(int result)
{
	return result == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Other";
}

int nvmlInit_v2(void)
{
	if (is("hang"))
		pause();
	if (is("crash"))
		abort();
	return is("driver") ? DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = is("many") ? 40 : 2;
	return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	static int first;

	*device = &first;
	return index ? GPU_IS_LOST : SUCCESS;
}

int nvmlDeviceGetName(void *device, char *name, unsigned int length)
{
	(void)device;
	/* Fills the whole buffer without a terminating NUL. */
	if (is("odd"))
		memset(name, 'x', length);
	else
		strcpy(name, "Fake\033[31m 1");
	return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length)
{
	(void)device, (void)uuid, (void)length;
	return NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(void *device, nvmlMemory_t *memory)
{
	(void)device;
	*memory = (nvmlMemory_t){.total = 16000, .free = 9000, .used = 7000};
	return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, nvmlUtilization_t *rates)
{
	(void)device;
	*rates = (nvmlUtilization_t){.gpu = 63, .memory = is("odd") ? 4000 : 21};
	return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
                                            nvmlProcessInfo_t *infos)
{
	unsigned int wanted = is("many") ? 5000 : 3;

	(void)device;
	if (*count < wanted) {
		*count = wanted;
		return INSUFFICIENT_SIZE;
	}
	*count = wanted;
	infos[0] = (nvmlProcessInfo_t){.pid = 70, .usedGpuMemory = 4096, .gpuInstanceId = ~0U};
	infos[1] = (nvmlProcessInfo_t){.pid = 71, .usedGpuMemory = 2048, .gpuInstanceId = ~0U};
	infos[2] = (nvmlProcessInfo_t){.pid = 72, .usedGpuMemory = UINT64_MAX};
	return SUCCESS;
}

int nvmlDeviceGetProcessUtilization(void *device, nvmlProcessUtilizationSample_t *samples,
                                    unsigned int *count, unsigned long long since)
{
	unsigned long long now_us = (unsigned long long)time(NULL) * 1000000;

	(void)device;
	/* The samples are an older one after a newer one, and one of a process that has ended. */
	if (*count < 3 || since > now_us)
		return INSUFFICIENT_SIZE;
	*count = 3;
	samples[0] = (nvmlProcessUtilizationSample_t){.pid = 70, .timeStamp = now_us, .smUtil = 42};
	samples[1] =
		(nvmlProcessUtilizationSample_t){.pid = 70, .timeStamp = now_us - 9, .smUtil = 7};
	samples[2] = (nvmlProcessUtilizationSample_t){.pid = 99, .timeStamp = now_us, .smUtil = 1};
	return SUCCESS;
}
