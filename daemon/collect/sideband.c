/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rings: opened, watched, and told to the process table.
 */
#include "collect/sideband.h"

#include "base/clock.h"
#include "bpf/abi.h"
#include "collect/perf.h"
#include "collect/perf_ring.h"
#include "collect/records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	RING_PAGES = 32, /* 128 KiB: about 1,000 records, a hundred execs */
	/* A ring wakes us when it is this full: a storm of 2,000 execs a second does so some 30
	 * times, and has three quarters of the ring until we come. */
	FULL_SHARE = 4,
};

struct ring {
	struct sideband *sideband;
	uint32_t cpu;
	int fd;
	struct perf_ring records;
	uv_poll_t poll;
};

struct sideband {
	uv_loop_t *loop;
	struct procs *procs;
	sideband_told_fn *told;
	void *ctx;
	struct ring *rings[MAX_CPUS];
	struct perf_ring *order[MAX_CPUS]; /* while they are read */
	uint64_t records, lost;
	bool rescan; /* records were lost: what they said is read from /proc */
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void ring_closed(uv_handle_t *handle)
{
	struct ring *ring = handle->data;

	munmap(ring->records.control, (RING_PAGES + 1) * page_bytes());
	perf_ring_release(&ring->records);
	close(ring->fd);
	free(ring);
}

static void ring_close(struct sideband *sideband, uint32_t cpu)
{
	struct ring *ring = sideband->rings[cpu];

	if (!ring)
		return;
	sideband->rings[cpu] = NULL;
	uv_close((uv_handle_t *)&ring->poll, ring_closed);
}

static int open_event(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(RING_PAGES * page_bytes() / FULL_SHARE),
	};

	return perf_open_cpu(&attr, cpu);
}

static void on_full(uv_poll_t *poll, int status, int events)
{
	struct ring *ring = poll->data;

	(void)status;
	(void)events;
	sideband_read(ring->sideband);
}

static int ring_open(struct sideband *sideband, uint32_t cpu)
{
	_cleanup_free_ struct ring *ring = calloc(1, sizeof(*ring));
	_cleanup_close_ int fd = open_event(cpu);
	void *control;
	int err;

	if (!ring)
		return -ENOMEM;
	if (fd < 0)
		return fd;
	control = mmap(NULL, (RING_PAGES + 1) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
	               fd, 0);
	if (control == MAP_FAILED)
		return -errno;
	ring->sideband = sideband;
	ring->cpu = cpu;
	perf_ring_init(&ring->records, control, page_bytes(), RING_PAGES * page_bytes());
	err = uv_poll_init(sideband->loop, &ring->poll, fd);
	if (err) {
		munmap(control, (RING_PAGES + 1) * page_bytes());
		return err;
	}
	ring->fd = TAKE_FD(fd);
	ring->poll.data = ring;
	uv_poll_start(&ring->poll, UV_READABLE, on_full);
	sideband->rings[cpu] = TAKE_PTR(ring);
	return 0;
}

int sideband_new(uv_loop_t *loop, struct procs *procs, sideband_told_fn *told, void *ctx,
                 struct sideband **ret_sideband)
{
	struct sideband *sideband = calloc(1, sizeof(*sideband));

	if (!sideband)
		return -ENOMEM;
	sideband->loop = loop;
	sideband->procs = procs;
	sideband->told = told;
	sideband->ctx = ctx;
	*ret_sideband = sideband;
	return 0;
}

void sideband_stop(struct sideband *sideband)
{
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		ring_close(sideband, cpu);
}

void sideband_free(struct sideband *sideband)
{
	free(sideband);
}

int sideband_update_cpus(struct sideband *sideband, const bool *online)
{
	int first_err = 0;

	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++) {
		int err = 0;

		if (!online[cpu])
			ring_close(sideband, cpu);
		else if (!sideband->rings[cpu])
			err = ring_open(sideband, cpu);
		/* A CPU that went away meanwhile has no event to offer. */
		if (err && err != -ENODEV && !first_err)
			first_err = err;
	}
	return first_err;
}

static void apply(const void *record, size_t len, void *ctx)
{
	struct sideband *sideband = ctx;
	uint64_t lost = record_apply(record, len, sideband->procs);

	sideband->lost += lost;
	sideband->rescan |= lost > 0;
}

/* Tells what happened up to `until`; how many records that were. */
static size_t tell(struct sideband *sideband, uint64_t until)
{
	size_t count = 0, told;

	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (sideband->rings[cpu])
			sideband->order[count++] = &sideband->rings[cpu]->records;
	procs_begin(sideband->procs);
	told = perf_rings_tell(sideband->order, count, until, apply, sideband);
	procs_end(sideband->procs);
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct ring *ring = sideband->rings[cpu];

		if (!ring || !ring->records.broken)
			continue;
		sideband->lost += ring->records.broken;
		sideband->rescan = true;
		ring->records.broken = 0;
	}
	sideband->records += told;
	return told;
}

bool sideband_is_waiting(const struct sideband *sideband)
{
	bool waiting = false;

	for (uint32_t cpu = 0; cpu < MAX_CPUS && !waiting; cpu++)
		waiting = sideband->rings[cpu] &&
		          perf_ring_is_waiting(&sideband->rings[cpu]->records);
	return waiting;
}

bool sideband_read(struct sideband *sideband)
{
	/* A record older than this is in its ring by now or will never be. */
	uint64_t now = clock_mono_ns();
	size_t told;

	told = tell(sideband, now);
	if (sideband->rescan) {
		sideband->rescan = false;
		procs_want_rescan(sideband->procs);
	}
	told += procs_rescan(sideband->procs);
	return sideband->told(now, sideband->ctx) || told;
}

uint64_t sideband_records(const struct sideband *sideband)
{
	return sideband->records;
}

uint64_t sideband_lost(const struct sideband *sideband)
{
	return sideband->lost;
}

uint64_t sideband_bytes(const struct sideband *sideband)
{
	uint64_t bytes = 0;

	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (sideband->rings[cpu])
			bytes += (RING_PAGES + 1) * page_bytes();
	return bytes;
}
