/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens the rings, watches them, and applies their records to the process table.
 */
#include "sideband/sideband.h"

#include "base/clock.h"
#include "bpf/abi.h"
#include "kernel/perf.h"
#include "sideband/perf_ring.h"
#include "sideband/records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	/* A ring wakes the loop when it is this full. A storm of 2,000 execs a second wakes it
	 * some 30 times a second, and the ring has at least as much room again until the loop
	 * reads it. */
	FULL_PAGES = 8,
	MOST_AT_ONCE = 256, /* records; each takes some 10 us */
};

/* The rings of each CPU. A process that maps faster than the loop reads fills a ring that has no
 * fork and exec records. */
enum ring_kind {
	RING_TASKS, /* first: of records of the same time, its own are applied first */
	RING_MAPPINGS,
	RING_COUNT
};

static const uint32_t ring_pages[RING_COUNT] = {
	[RING_TASKS] = 16,    /* 64 KiB: some 300 processes that begin, exec and end */
	[RING_MAPPINGS] = 32, /* about 1,000 records, a hundred execs */
};

struct ring {
	struct sideband *sideband;
	size_t bytes; /* with the page that describes it */
	int fd;
	struct perf_ring records;
	uv_poll_t poll;
};

struct sideband {
	uv_loop_t *loop;
	uv_idle_t rest; /* runs while there is more to read at once */
	struct procs *procs;
	sideband_told_fn *told;
	void *ctx;
	struct ring *rings[MAX_CPUS * RING_COUNT];      /* those of a CPU side by side */
	size_t rings_end;                               /* no ring from here on was ever open */
	struct perf_ring *order[MAX_CPUS * RING_COUNT]; /* used while they are read */
	uint64_t records, lost;
	bool rescan; /* records were lost: /proc is read to make up for them */
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void ring_closed(uv_handle_t *handle)
{
	struct ring *ring = handle->data;

	munmap(ring->records.control, ring->bytes);
	perf_ring_release(&ring->records);
	close(ring->fd);
	free(ring);
}

static struct ring **ring_at(struct sideband *sideband, uint32_t cpu, enum ring_kind kind)
{
	return &sideband->rings[(size_t)cpu * RING_COUNT + kind];
}

static void ring_close(struct ring **ring)
{
	if (*ring)
		uv_close((uv_handle_t *)&(*ring)->poll, ring_closed);
	*ring = NULL;
}

static void close_cpu(struct sideband *sideband, uint32_t cpu)
{
	for (int kind = 0; kind < RING_COUNT; kind++)
		ring_close(ring_at(sideband, cpu, kind));
}

static int open_event(uint32_t cpu, enum ring_kind kind)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = kind == RING_MAPPINGS,
		.mmap2 = kind == RING_MAPPINGS,
		.comm = kind == RING_TASKS,
		.comm_exec = kind == RING_TASKS,
		.task = kind == RING_TASKS,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(FULL_PAGES * page_bytes()),
	};

	return perf_open_cpu(&attr, cpu);
}

static void on_full(uv_poll_t *poll, int status, int events)
{
	struct ring *ring = poll->data;

	(void)status;
	(void)events;
	sideband_read_some(ring->sideband);
}

static int ring_open(struct sideband *sideband, uint32_t cpu, enum ring_kind kind)
{
	_cleanup_free_ struct ring *ring = calloc(1, sizeof(*ring));
	_cleanup_close_ int fd = open_event(cpu, kind);
	size_t data_bytes = ring_pages[kind] * page_bytes();
	void *control;
	int err;

	if (!ring)
		return -ENOMEM;
	if (fd < 0)
		return fd;
	ring->sideband = sideband;
	ring->bytes = page_bytes() + data_bytes;
	control = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		return -errno;
	perf_ring_init(&ring->records, control, page_bytes(), data_bytes);
	err = uv_poll_init(sideband->loop, &ring->poll, fd);
	if (err) {
		munmap(control, ring->bytes);
		return err;
	}
	ring->fd = TAKE_FD(fd);
	ring->poll.data = ring;
	uv_poll_start(&ring->poll, UV_READABLE, on_full);
	*ring_at(sideband, cpu, kind) = TAKE_PTR(ring);
	if (sideband->rings_end < (size_t)(cpu + 1) * RING_COUNT)
		sideband->rings_end = (size_t)(cpu + 1) * RING_COUNT;
	return 0;
}

/* Opens all rings of a CPU, or none. */
static int open_cpu(struct sideband *sideband, uint32_t cpu)
{
	int err = 0;

	for (int kind = 0; kind < RING_COUNT && !err; kind++)
		err = ring_open(sideband, cpu, kind);
	if (err)
		close_cpu(sideband, cpu);
	return err;
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
		close_cpu(sideband, cpu);
	if (sideband->rest.data)
		uv_close((uv_handle_t *)&sideband->rest, NULL);
}

void sideband_free(struct sideband *sideband)
{
	free(sideband);
}

int sideband_update_cpus(struct sideband *sideband, const bool *online)
{
	int first_err = 0;

	if (!sideband->rest.data) {
		uv_idle_init(sideband->loop, &sideband->rest);
		sideband->rest.data = sideband;
	}
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++) {
		int err = 0;

		if (!online[cpu])
			close_cpu(sideband, cpu);
		else if (!*ring_at(sideband, cpu, RING_TASKS))
			err = open_cpu(sideband, cpu);
		/* A CPU that has gone offline in the meantime has no events. */
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

/* Applies the records up to `until`, at most `most` of them. Returns how many these were. */
static size_t tell(struct sideband *sideband, uint64_t until, size_t most)
{
	size_t count = 0, told;

	for (size_t i = 0; i < sideband->rings_end; i++)
		if (sideband->rings[i])
			sideband->order[count++] = &sideband->rings[i]->records;
	procs_begin(sideband->procs);
	told = perf_rings_tell(sideband->order, count, until, most, apply, sideband);
	procs_end(sideband->procs);
	for (size_t i = 0; i < sideband->rings_end; i++) {
		struct ring *ring = sideband->rings[i];

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

	for (size_t i = 0; i < sideband->rings_end && !waiting; i++)
		waiting = sideband->rings[i] && perf_ring_is_waiting(&sideband->rings[i]->records);
	return waiting;
}

static void on_rest(uv_idle_t *idle)
{
	sideband_read_some(idle->data);
}

static bool read_most(struct sideband *sideband, size_t most)
{
	/* A record older than this is in its ring by now, or will never be. */
	uint64_t now = clock_mono_ns();
	size_t told = tell(sideband, now, most);

	if (told == most) {
		uv_idle_start(&sideband->rest, on_rest);
		return true;
	}
	uv_idle_stop(&sideband->rest);
	if (sideband->rescan) {
		sideband->rescan = false;
		procs_want_rescan(sideband->procs);
	}
	told += procs_rescan(sideband->procs);
	return sideband->told(now, sideband->ctx) || told;
}

bool sideband_read(struct sideband *sideband)
{
	return read_most(sideband, SIZE_MAX);
}

bool sideband_read_some(struct sideband *sideband)
{
	return read_most(sideband, MOST_AT_ONCE);
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

	for (size_t i = 0; i < sideband->rings_end; i++)
		bytes += sideband->rings[i] ? sideband->rings[i]->bytes : 0;
	return bytes;
}
