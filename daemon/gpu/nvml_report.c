/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process that makes the report runs foreign code, so the report is checked.
 */
#include "gpu/nvml_report.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_text(const char text[NVML_TEXT])
{
	return memchr(text, 0, NVML_TEXT) != NULL;
}

static bool is_percent(uint32_t percent)
{
	return percent <= 100 || percent == NVML_PERCENT_UNKNOWN;
}

static bool is_device(const struct nvml_device *device)
{
	return is_percent(device->busy_percent) && is_percent(device->memory_percent) &&
	       is_text(device->name) && is_text(device->uuid);
}

int nvml_report_check(const uint8_t *bytes, size_t len)
{
	struct nvml_report report;

	if (len != sizeof(report))
		return -EBADMSG;
	memcpy(&report, bytes, sizeof(report));
	if (report.device_count > NVML_DEVICES || report.process_count > NVML_PROCESSES ||
	    !is_text(report.why))
		return -EBADMSG;
	for (uint32_t i = 0; i < report.device_count; i++)
		if (!is_device(&report.devices[i]))
			return -EBADMSG;
	for (uint32_t i = 0; i < report.process_count; i++)
		if (report.processes[i].device >= report.device_count ||
		    !is_percent(report.processes[i].busy_percent))
			return -EBADMSG;
	return 0;
}
