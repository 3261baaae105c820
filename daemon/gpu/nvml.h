/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct nvml - asks NVIDIA's driver, in a process of its own (gpu/nvml_library.h), for its devices
 * and who uses them. What came is good for a second; a host that has no such library is asked again
 * after a minute. Nothing is started before the first question, and what was started ends when
 * nobody asks any longer. Loop thread only; a process is waited for on a lane of its own.
 */
#pragma once

#include "base/cleanup.h"
#include "gpu/nvml_report.h"
#include "reader/reader.h"

#include <uv.h>

struct nvml;

/* Embed it; it must stay put until done() or nvml_forget(). */
struct nvml_wait {
	/* Once, perhaps before nvml_ask() has returned. The report is NULL where there is none to
	 * be had, and `why` says so in one line; both are good for the call only. */
	void (*done)(struct nvml_wait *wait, const struct nvml_report *report, const char *why);
	struct nvml_wait *next; /* its own */
};

struct nvml *nvml_new(uv_loop_t *loop); /* NULL: out of memory */
void nvml_ask(struct nvml *nvml, struct nvml_wait *wait);
void nvml_forget(struct nvml *nvml, struct nvml_wait *wait);
/* Now and then: ends the process when nobody has asked for a while. */
void nvml_rest(struct nvml *nvml);
/* Nobody waits any more; the loop runs, then nvml_free(). Both take NULL. */
void nvml_stop(struct nvml *nvml);
void nvml_free(struct nvml *nvml);
void nvml_add_reader_stats(const struct nvml *nvml, struct reader_stats *stats);
