/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in for NVML: two devices of 16 GiB. The environment sets what they report:
 *     FAKENVML_PROCESSES="PID:DEVICE:BYTES:PERCENT ..."   a device's memory in use is the sum of
 *                                                         these bytes and 512 MiB
 *     FAKENVML_UTILIZATION="GPU:MEMORY GPU:MEMORY"        percent, by device
 * The defaults are no processes, and 40:10 and 80:20.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum {
	DEVICES = 2,
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	MAX_PROCESSES = 64,
};

static const uint64_t total_bytes = 16ULL << 30, own_bytes = 512ULL << 20;

typedef struct device {
	int index;
} * device_t;

static struct device devices[DEVICES] = {{0}, {1}};
static int started;

struct process {
	unsigned int pid, device, percent;
	unsigned long long bytes;
};

struct memory {
	unsigned long long total, free, used;
};

struct memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

struct utilization {
	unsigned int gpu, memory;
};

struct process_info {
	unsigned int pid;
	unsigned long long used;
	unsigned int gpu_instance, compute_instance;
};

struct process_sample {
	unsigned int pid;
	unsigned long long time_us;
	unsigned int sm, memory, encoder, decoder;
};

static size_t read_processes(struct process *ret)
{
	const char *text = getenv("FAKENVML_PROCESSES");
	size_t count = 0;
	int len;

	while (text && count < MAX_PROCESSES) {
		struct process *p = &ret[count];

		if (sscanf(text, " %u:%u:%llu:%u%n", &p->pid, &p->device, &p->bytes, &p->percent,
		           &len) != 4)
			break;
		text += len;
		count++;
	}
	return count;
}

static uint64_t used_bytes(device_t device)
{
	struct process processes[MAX_PROCESSES];
	size_t count = read_processes(processes);
	uint64_t used = own_bytes;

	for (size_t i = 0; i < count; i++) {
		if (processes[i].device == (unsigned int)device->index)
			used += processes[i].bytes;
	}
	return used;
}

static int check(const struct device *device, const void *ret)
{
	if (!started)
		return UNINITIALIZED;
	return device && ret ? SUCCESS : INVALID_ARGUMENT;
}

static int put_text(char *ret, unsigned int size, const char *text)
{
	return (size_t)snprintf(ret, size, "%s", text) < size ? SUCCESS : INSUFFICIENT_SIZE;
}

EXPORTED int nvmlInit_v2(void)
{
	started++;
	return SUCCESS;
}

EXPORTED int nvmlInitWithFlags(unsigned int flags)
{
	(void)flags;
	return nvmlInit_v2();
}

EXPORTED int nvmlShutdown(void)
{
	if (!started)
		return UNINITIALIZED;
	started--;
	return SUCCESS;
}

EXPORTED const char *nvmlErrorString(int result)
{
	return result == SUCCESS ? "Success" : "An error of the stand-in";
}

EXPORTED int nvmlSystemGetDriverVersion(char *ret, unsigned int size)
{
	return put_text(ret, size, "535.54.03");
}

EXPORTED int nvmlSystemGetNVMLVersion(char *ret, unsigned int size)
{
	return put_text(ret, size, "12.535.54.03");
}

EXPORTED int nvmlDeviceGetCount_v2(unsigned int *ret_count)
{
	*ret_count = DEVICES;
	return started ? SUCCESS : UNINITIALIZED;
}

EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device_t *ret)
{
	if (index >= DEVICES)
		return INVALID_ARGUMENT;
	*ret = &devices[index];
	return started ? SUCCESS : UNINITIALIZED;
}

EXPORTED int nvmlDeviceGetIndex(device_t device, unsigned int *ret)
{
	*ret = (unsigned int)device->index;
	return check(device, ret);
}

EXPORTED int nvmlDeviceGetMinorNumber(device_t device, unsigned int *ret)
{
	return nvmlDeviceGetIndex(device, ret);
}

EXPORTED int nvmlDeviceGetUUID(device_t device, char *ret, unsigned int size)
{
	return put_text(ret, size,
	                device->index ? "GPU-22222222-2222-2222-2222-222222222222"
	                              : "GPU-11111111-1111-1111-1111-111111111111");
}

EXPORTED int nvmlDeviceGetName(device_t device, char *ret, unsigned int size)
{
	return put_text(ret, size, device->index ? "Stand-in 1" : "Stand-in 0");
}

EXPORTED int nvmlDeviceGetMemoryInfo(device_t device, struct memory *ret)
{
	int result = check(device, ret);

	if (!result)
		*ret = (struct memory){total_bytes, total_bytes - used_bytes(device),
		                       used_bytes(device)};
	return result;
}

/* The low bytes of the version hold the size. */
EXPORTED int nvmlDeviceGetMemoryInfo_v2(device_t device, struct memory_v2 *ret)
{
	int result = check(device, ret);

	if (result)
		return result;
	if (ret->version != (sizeof(*ret) | 2 << 24))
		return INVALID_ARGUMENT;
	ret->total = total_bytes;
	ret->reserved = own_bytes;
	ret->used = used_bytes(device) - own_bytes;
	ret->free = total_bytes - used_bytes(device);
	return SUCCESS;
}

EXPORTED int nvmlDeviceGetUtilizationRates(device_t device, struct utilization *ret)
{
	const char *text = getenv("FAKENVML_UTILIZATION");
	unsigned int rates[2 * DEVICES] = {40, 10, 80, 20};

	if (text)
		sscanf(text, "%u:%u %u:%u", &rates[0], &rates[1], &rates[2], &rates[3]);
	*ret = (struct utilization){rates[2 * device->index], rates[2 * device->index + 1]};
	return check(device, ret);
}

/* Fills in a device's processes; the count includes those for which there is no room. */
static int each_process(device_t device, unsigned int *count,
                        void (*put)(void *array, size_t at, const struct process *process),
                        void *array)
{
	struct process processes[MAX_PROCESSES];
	size_t found = read_processes(processes);
	unsigned int room = *count;

	*count = 0;
	for (size_t i = 0; i < found; i++) {
		if (processes[i].device != (unsigned int)device->index)
			continue;
		if (*count < room && array)
			put(array, *count, &processes[i]);
		++*count;
	}
	return *count > room || (*count && !array) ? INSUFFICIENT_SIZE : SUCCESS;
}

static void put_info(void *array, size_t at, const struct process *process)
{
	((struct process_info *)array)[at] =
		(struct process_info){process->pid, process->bytes, 0xffffffff, 0xffffffff};
}

static void put_sample(void *array, size_t at, const struct process *process)
{
	((struct process_sample *)array)[at] =
		(struct process_sample){.pid = process->pid,
	                                .time_us = 1000000,
	                                .sm = process->percent,
	                                .memory = process->percent / 2};
}

EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned int *count,
                                                     struct process_info *ret)
{
	return started ? each_process(device, count, put_info, ret) : UNINITIALIZED;
}

EXPORTED int nvmlDeviceGetGraphicsRunningProcesses_v3(device_t device, unsigned int *count,
                                                      struct process_info *ret)
{
	(void)ret;
	*count = 0;
	return check(device, count);
}

EXPORTED int nvmlDeviceGetProcessUtilization(device_t device, struct process_sample *ret,
                                             unsigned int *count, unsigned long long since)
{
	(void)since;
	if (!started)
		return UNINITIALIZED;
	if (!read_processes((struct process[MAX_PROCESSES]){{0}}))
		return NOT_FOUND;
	return each_process(device, count, put_sample, ret);
}
