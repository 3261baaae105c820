/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The clock is read in a loop and stands still while a tick stops the loop. The record of the tick
 * has the time at which the kernel read the clock.
 */
#include "cpu/tick_lag.h"

#include "base/clock.h"
#include "kernel/perf.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	PERIOD_NS = 50 * 1000,
	TICKS = 60,
	/* While other tasks have the CPU, this thread has no ticks. */
	PATIENCE_NS = 50 * 1000 * 1000,
};

/* A PERF_RECORD_SAMPLE with only PERF_SAMPLE_TIME; see perf_event_open(2). */
struct tick_record {
	struct perf_event_header header;
	uint64_t time;
};

static int open_ticks(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return perf_open_own(&attr);
}

/* The ring is never full: it has room for more records than ticks. */
static uint64_t measure(const struct perf_event_mmap_page *control)
{
	const struct tick_record *records =
		(const struct tick_record *)((const char *)control + control->data_offset);
	uint64_t before = clock_mono_ns(), until = before + PATIENCE_NS, told = 0, least = 0;

	while (before < until && told < TICKS * sizeof(*records)) {
		uint64_t now = clock_mono_ns();
		uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);

		if (head != told && head % sizeof(*records) == 0 && head <= control->data_size) {
			uint64_t time = records[head / sizeof(*records) - 1].time;
			/* The tick came before or after this reading of the clock: CPUs take
			 * interrupts at the end of a reading, and some take all of them there. */
			uint64_t stopped = now < time ? now : before;

			if (time > stopped && (!least || time - stopped < least))
				least = time - stopped;
		}
		told = head;
		before = now;
	}
	return least;
}

uint64_t tick_lag_measure_ns(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 2 * page;
	int fd = open_ticks();
	void *ring;
	uint64_t least;

	if (fd < 0)
		return 0;
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (ring == MAP_FAILED)
		return 0;
	least = measure(ring);
	munmap(ring, bytes);
	return least;
}
