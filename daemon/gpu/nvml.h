/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct nvml - asks NVIDIA's driver, in a reader process (gpu/nvml_library.h), for its devices and
 * the processes that use them. An answer is valid for a second; a host that has no such library is
 * asked again after a minute. Nothing is started before the first request, and the reader process
 * ends when there are no more requests. Loop thread only; a lane waits for the reader process.
 */
#pragma once

#include "base/cleanup.h"
#include "gpu/nvml_report.h"
#include "reader/reader.h"

#include <uv.h>

struct nvml;

/* Embed it; it must not move until done() or nvml_forget(). */
struct nvml_wait {
	/* Called once, perhaps before nvml_ask() has returned. The report is NULL where none is
	 * available, and `why` then says so in one line; both are valid during the call only. */
	void (*done)(struct nvml_wait *wait, const struct nvml_report *report, const char *why);
	struct nvml_wait *next; /* used by struct nvml */
};

struct nvml *nvml_new(uv_loop_t *loop); /* NULL: out of memory */
void nvml_ask(struct nvml *nvml, struct nvml_wait *wait);
void nvml_forget(struct nvml *nvml, struct nvml_wait *wait);
/* Call it now and then: it ends the reader process when there was no request for a while. */
void nvml_rest(struct nvml *nvml);
/* Call nvml_stop() when nothing waits any more, let the loop run, then call nvml_free(). Both take
 * NULL. */
void nvml_stop(struct nvml *nvml);
void nvml_free(struct nvml *nvml);
void nvml_add_reader_stats(const struct nvml *nvml, struct reader_stats *stats);
