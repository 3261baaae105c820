/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names, types and layouts are those of nvml.h, as NVIDIA publishes them with CUDA's toolkit and in
 * the "NVML API Reference Guide". Where a function exists in several versions, the one named here
 * is used.
 */
#include "gpu/nvml_library.h"

#include "base/clock.h"
#include "gpu/nvml_report.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	RESULT_SUCCESS = 0,           /* nvmlReturn_t */
	RESULT_INSUFFICIENT_SIZE = 7, /* the count is the number that would be needed */
	SAMPLES = 1024,               /* samples of one device in one call: a few each process */
};

/* Maximum age of a sample that is used; NVML keeps samples longer. */
static const uint64_t fresh_ns = 2 * NSEC_PER_SEC;

typedef void *nvml_handle; /* nvmlDevice_t */

/* nvmlMemory_t */
struct memory_info {
	unsigned long long total, free, used;
};

/* nvmlUtilization_t, in percent */
struct utilization {
	unsigned int gpu, memory;
};

/* nvmlProcessInfo_t, of ..._v2 and ..._v3 */
struct process_info {
	unsigned int pid;
	unsigned long long used; /* all ones: not known */
	unsigned int gpu_instance, compute_instance;
};
_Static_assert(sizeof(struct process_info) == 24, "nvml.h");

/* nvmlProcessUtilizationSample_t; the time is CLOCK_REALTIME, in microseconds */
struct process_sample {
	unsigned int pid;
	unsigned long long time_us;
	unsigned int sm, memory, encoder, decoder;
};
_Static_assert(sizeof(struct process_sample) == 32, "nvml.h");

/* FUNCTION(name, symbol, needed, arguments); each returns an nvmlReturn_t. */
#define FUNCTIONS(FUNCTION)                                                                     \
	FUNCTION(init, "nvmlInit_v2", true, (void))                                             \
	FUNCTION(count, "nvmlDeviceGetCount_v2", true, (unsigned int *))                        \
	FUNCTION(handle, "nvmlDeviceGetHandleByIndex_v2", true, (unsigned int, nvml_handle *))  \
	FUNCTION(name, "nvmlDeviceGetName", false, (nvml_handle, char *, unsigned int))         \
	FUNCTION(uuid, "nvmlDeviceGetUUID", false, (nvml_handle, char *, unsigned int))         \
	FUNCTION(memory, "nvmlDeviceGetMemoryInfo", false, (nvml_handle, struct memory_info *)) \
	FUNCTION(utilization, "nvmlDeviceGetUtilizationRates", false,                           \
	         (nvml_handle, struct utilization *))                                           \
	FUNCTION(processes, "nvmlDeviceGetComputeRunningProcesses_v3", false,                   \
	         (nvml_handle, unsigned int *, struct process_info *))                          \
	FUNCTION(process_utilization, "nvmlDeviceGetProcessUtilization", false,                 \
	         (nvml_handle, struct process_sample *, unsigned int *, unsigned long long))

struct library {
	bool initialized;
	const char *(*error_string)(int result); /* NULL where the library has none */
#define FUNCTION(name, symbol, needed, arguments) int(*name) arguments;
	FUNCTIONS(FUNCTION)
#undef FUNCTION
	struct process_sample samples[SAMPLES];
};

/* In POSIX, pointers to functions and to objects have the same size. */
static void find(void *handle, const char *symbol, void *ret_function)
{
	void *found = dlsym(handle, symbol);

	memcpy(ret_function, &found, sizeof(found));
}

/* -ENOENT where there is no library, or it lacks a needed function. */
static int load(struct library **ret_library)
{
	_cleanup_free_ struct library *library = NULL;
	void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ENOENT;
	library = calloc(1, sizeof(*library));
	if (!library)
		return -ENOMEM;
	find(handle, "nvmlErrorString", &library->error_string);
#define FUNCTION(name, symbol, needed, arguments) \
	find(handle, symbol, &library->name);     \
	if (needed && !library->name)             \
		return -ENOENT;
	FUNCTIONS(FUNCTION)
#undef FUNCTION
	*ret_library = TAKE_PTR(library);
	return 0;
}

static void explain(const struct library *library, const char *call, int result,
                    struct nvml_report *report)
{
	const char *text = library->error_string ? library->error_string(result) : NULL;

	snprintf(report->why, sizeof(report->why), "%s: %.40s (%d)", call, text ? text : "failed",
	         result);
}

static uint32_t percent(unsigned int told)
{
	return told <= 100 ? told : NVML_PERCENT_UNKNOWN;
}

static const struct nvml_device unknown_device = {
	.total = NVML_BYTES_UNKNOWN,
	.used = NVML_BYTES_UNKNOWN,
	.busy_percent = NVML_PERCENT_UNKNOWN,
	.memory_percent = NVML_PERCENT_UNKNOWN,
};

static void read_device(const struct library *library, nvml_handle handle,
                        struct nvml_device *device)
{
	struct utilization utilization;
	struct memory_info memory;

	if (library->name && library->name(handle, device->name, NVML_TEXT))
		device->name[0] = '\0';
	if (library->uuid && library->uuid(handle, device->uuid, NVML_TEXT))
		device->uuid[0] = '\0';
	if (library->memory && !library->memory(handle, &memory)) {
		device->total = memory.total;
		device->used = memory.used;
	}
	if (library->utilization && !library->utilization(handle, &utilization)) {
		device->busy_percent = percent(utilization.gpu);
		device->memory_percent = percent(utilization.memory);
	}
}

static void read_processes(const struct library *library, nvml_handle handle, uint32_t device,
                           struct nvml_report *report)
{
	struct process_info infos[NVML_PROCESSES];
	unsigned int count = NVML_PROCESSES;
	int result = library->processes ? library->processes(handle, &count, infos) : -1;

	if (result == RESULT_INSUFFICIENT_SIZE)
		report->processes_left_out += count;
	if (result != RESULT_SUCCESS)
		return;
	for (unsigned int i = 0; i < count && i < NVML_PROCESSES; i++) {
		if (report->process_count == NVML_PROCESSES) {
			report->processes_left_out += count - i;
			return;
		}
		report->processes[report->process_count++] = (struct nvml_process){
			.pid = infos[i].pid,
			.device = device,
			.used = infos[i].used,
			.busy_percent = NVML_PERCENT_UNKNOWN,
		};
	}
}

/* Takes the latest sample of each process; samples of processes without a context are not shown. */
static void read_utilization(struct library *library, nvml_handle handle, uint32_t device,
                             struct nvml_report *report)
{
	unsigned long long since_us = (clock_wall_ns() - fresh_ns) / NSEC_PER_USEC;
	unsigned int count = SAMPLES;

	if (!library->process_utilization ||
	    library->process_utilization(handle, library->samples, &count, since_us))
		return;
	for (uint32_t i = 0; i < report->process_count; i++) {
		struct nvml_process *process = &report->processes[i];
		unsigned long long latest_us = 0;

		for (unsigned int j = 0; j < count && j < SAMPLES; j++) {
			const struct process_sample *sample = &library->samples[j];

			if (process->device != device || sample->pid != process->pid ||
			    sample->time_us <= latest_us)
				continue;
			latest_us = sample->time_us;
			process->busy_percent = percent(sample->sm);
		}
	}
}

static void read_all(struct library *library, struct nvml_report *report)
{
	unsigned int count = 0;
	int result = library->count(&count);

	if (result) {
		explain(library, "nvmlDeviceGetCount_v2", result, report);
		return;
	}
	for (unsigned int i = 0; i < count && i < NVML_DEVICES; i++) {
		nvml_handle handle;

		/* A device may have fallen off the bus, or may not be accessible. Its index stays,
		 * so that the others keep theirs. */
		report->device_count++;
		report->devices[i] = unknown_device;
		if (library->handle(i, &handle))
			continue;
		read_device(library, handle, &report->devices[i]);
		read_processes(library, handle, i, report);
		read_utilization(library, handle, i, report);
	}
	if (count > NVML_DEVICES)
		report->devices_left_out = count - NVML_DEVICES;
}

static int initialize(struct library *library, struct nvml_report *report)
{
	int result = library->initialized ? RESULT_SUCCESS : library->init();

	library->initialized = result == RESULT_SUCCESS;
	if (result)
		explain(library, "nvmlInit_v2", result, report);
	return result;
}

int nvml_answer(struct reading *reading, struct buf *out)
{
	_cleanup_free_ struct nvml_report *report = calloc(1, sizeof(*report));
	struct library *library = *reading->kept;
	int err = 0;

	if (reading->len)
		return -EPROTO;
	if (!report)
		return -ENOMEM;
	if (!library)
		err = load(&library);
	if (err)
		return err;
	*reading->kept = library;
	if (!initialize(library, report))
		read_all(library, report);
	buf_add(out, report, sizeof(*report));
	return buf_error(out);
}
