/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One timer for both tasks.
 */
#include "upkeep.h"

#include "notify.h"
#include "parts.h"

#include <malloc.h>
#include <stddef.h>

/* Also the interval of the search for what is held without being needed. */
static const uint64_t period_ms = 20 * 1000;

/* The free memory that the allocator may keep. */
static const size_t kept_bytes = 8 << 20;

static struct upkeep *upkeep_of(struct job *job)
{
	return (struct upkeep *)((char *)job - offsetof(struct upkeep, job));
}

/* Many processes that start and end at once make profd take and free many small pieces of memory,
 * which the allocator does not return by itself. On the loop thread: it takes each arena's lock for
 * milliseconds, and if it were another thread that lost its CPU in the middle, the loop would wait
 * for that thread. It may still wait for one that loses its CPU within malloc(). */
static void give_memory_back(void)
{
	if (mallinfo2().fordblks > kept_bytes)
		malloc_trim(0);
}

/* On the render lane, to which the symbolizer belongs. */
static void run_rest(struct job *job)
{
	symbolizer_rest(upkeep_of(job)->parts->symbolizer);
}

static void on_rested(struct job *job)
{
	upkeep_of(job)->resting = false;
	give_memory_back();
}

void upkeep_tell(struct upkeep *upkeep)
{
	char line[REPORT_BYTES];

	if (!notify_wanted())
		return;
	report_write(&upkeep->report, line);
	notify_send("STATUS=%s", line);
}

static void on_period(uv_timer_t *timer)
{
	struct upkeep *upkeep = timer->data;

	upkeep_tell(upkeep);
	nvml_rest(upkeep->parts->nvml);
	if (!upkeep->resting)
		upkeep->resting = lane_submit(upkeep->parts->render, &upkeep->job) == 0;
}

void upkeep_init(struct upkeep *upkeep, uv_loop_t *loop)
{
	uv_timer_init(loop, &upkeep->timer);
	upkeep->timer.data = upkeep;
	upkeep->job = (struct job){.run = run_rest, .done = on_rested};
}

void upkeep_start(struct upkeep *upkeep, const struct config *config, const struct parts *parts,
                  uint64_t start_mono_ns)
{
	upkeep->parts = parts;
	upkeep->report = (struct report){
		.config = config,
		.collector = parts->collector,
		.history = parts->history,
		.mono_ns = start_mono_ns,
	};
	/* Fails only for a closed timer. */
	uv_timer_start(&upkeep->timer, on_period, period_ms, period_ms);
}

void upkeep_stop(struct upkeep *upkeep)
{
	uv_close((uv_handle_t *)&upkeep->timer, NULL);
}
