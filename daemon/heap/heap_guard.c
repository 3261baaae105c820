/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Readings of the slot's counters and of the process's CPU clock, and their quotients.
 */
#include "heap/heap_guard.h"

#include "base/clock.h"

/* How long the process is measured before there are probes, at the least. */
static const uint64_t rest_ns = 200 * NSEC_PER_MSEC;
/* The CPU time that is left without the probes is the difference of two measured figures. Below
 * this share of the process's time the difference is noise. */
static const double least_left = 0.15;

static uint64_t cpu_time(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now)
	               ? 0
	               : (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

void heap_guard_mark(const struct heap_guard *guard, struct heap_mark *ret_mark)
{
	ret_mark->mono_ns = clock_mono_ns();
	ret_mark->cpu_ns = cpu_time(guard->cpu_clock);
	heap_kernel_counts(guard->kernel, guard->slot, &ret_mark->counts);
}

void heap_guard_open(struct heap_guard *guard, const struct heap_kernel *kernel,
                     const struct heap_price *price, u32 slot, uint32_t pid)
{
	*guard = (struct heap_guard){.kernel = kernel, .price = price, .slot = slot};
	if (clock_getcpuclockid((pid_t)pid, &guard->cpu_clock))
		guard->cpu_clock = CLOCK_PROCESS_CPUTIME_ID; /* it is gone; others report that */
	heap_guard_mark(guard, &guard->opened);
}

void heap_guard_rest(struct heap_guard *guard)
{
	uint64_t passed = clock_mono_ns() - guard->opened.mono_ns;
	const struct timespec wait = {.tv_nsec = passed < rest_ns ? (long)(rest_ns - passed) : 0};
	struct heap_reading reading;

	nanosleep(&wait, NULL);
	heap_guard_read(guard, &guard->opened, &reading);
	guard->cores_before = reading.cores;
}

void heap_guard_read(const struct heap_guard *guard, const struct heap_mark *since,
                     struct heap_reading *ret_reading)
{
	struct heap_reading reading = {0};
	struct heap_mark now;
	struct heap_hits hits;
	double seconds;

	heap_guard_mark(guard, &now);
	reading.ns = now.mono_ns - since->mono_ns;
	seconds = (double)(reading.ns ?: 1) / (double)NSEC_PER_SEC;
#define COUNT(name, help) reading.counts.name = now.counts.name - since->counts.name;
	HEAP_COUNTS(COUNT)
#undef COUNT
	hits = (struct heap_hits){
		.emulated = (double)reading.counts.emulated / seconds,
		.stepped = (double)reading.counts.stepped / seconds,
		.returns = (double)reading.counts.returns / seconds,
	};
	reading.hits_per_second = hits.emulated + hits.stepped;
	reading.cost = heap_price_cores(guard->price, &hits);
	/* The clock of a process that has ended says nothing. */
	if (now.cpu_ns > since->cpu_ns)
		reading.cores =
			(double)(now.cpu_ns - since->cpu_ns) / (double)NSEC_PER_SEC / seconds;
	*ret_reading = reading;
}

void heap_guard_correct(const struct heap_guard *guard, struct heap_reading *reading)
{
	double left = reading->cores - reading->cost, least = reading->cores * least_left;
	double factor;

	if (left < least)
		left = least;
	factor = left > 0 ? guard->cores_before / left : 1;
	/* Probes do not make a process do more: if it did more with them, it had only just become
	 * busy. */
	if (factor < 1)
		factor = 1;
	reading->hits_per_second *= factor;
	reading->cost *= factor;
}
