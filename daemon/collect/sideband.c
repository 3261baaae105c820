/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rings: opened, watched, read and merged by time.
 */
#include "collect/sideband.h"

#include "base/buf.h"
#include "base/clock.h"
#include "bpf/abi.h"
#include "collect/perf.h"
#include "collect/records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	RING_PAGES = 32, /* 128 KiB: about 1,000 records, a hundred execs, between two reads */
	/* What happens comes in bursts: a program that was started maps a dozen files. So they are
	 * read this long after the first of them; a storm of forks wakes us this often and no more,
	 * and a process that lives 50 ms is still met alive. */
	BURST_MS = 3,
};

struct ring {
	struct sideband *sideband;
	uint32_t cpu;
	int fd;
	struct perf_event_mmap_page *control;
	uv_poll_t poll;
};

struct pending {
	uint64_t time;
	size_t offset, len; /* in the bytes */
};

struct sideband {
	uv_loop_t *loop;
	struct procs *procs;
	sideband_told_fn *told;
	void *ctx;
	uv_timer_t burst;
	struct ring *rings[MAX_CPUS];
	/* Records read but not yet told: those newer than the beginning of a read wait for the next
	 * one. */
	struct buf bytes, index;
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

	munmap(ring->control, (RING_PAGES + 1) * page_bytes());
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
		/* Each record wakes us; wakeup_events counts samples only. */
		.watermark = 1,
		.wakeup_watermark = 1,
	};

	return perf_open_cpu(&attr, cpu);
}

static void on_readable(uv_poll_t *poll, int status, int events);

static void on_burst_over(uv_timer_t *timer)
{
	struct sideband *sideband = timer->data;

	sideband_read(sideband);
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (sideband->rings[cpu])
			uv_poll_start(&sideband->rings[cpu]->poll, UV_READABLE, on_readable);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct ring *ring = poll->data;
	struct sideband *sideband = ring->sideband;

	(void)status;
	(void)events;
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (sideband->rings[cpu])
			uv_poll_stop(&sideband->rings[cpu]->poll);
	uv_timer_start(&sideband->burst, on_burst_over, BURST_MS, 0);
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
	ring->control = control;
	err = uv_poll_init(sideband->loop, &ring->poll, fd);
	if (err) {
		munmap(control, (RING_PAGES + 1) * page_bytes());
		return err;
	}
	ring->fd = TAKE_FD(fd);
	ring->poll.data = ring;
	uv_poll_start(&ring->poll, UV_READABLE, on_readable);
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
	uv_timer_init(loop, &sideband->burst);
	sideband->burst.data = sideband;
	*ret_sideband = sideband;
	return 0;
}

void sideband_stop(struct sideband *sideband)
{
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		ring_close(sideband, cpu);
	uv_close((uv_handle_t *)&sideband->burst, NULL);
}

void sideband_free(struct sideband *sideband)
{
	if (!sideband)
		return;
	buf_release(&sideband->bytes);
	buf_release(&sideband->index);
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

/* Copies a stretch of the ring, which may wrap. */
static void copy_out(const struct ring *ring, uint64_t at, void *to, size_t len)
{
	size_t size = RING_PAGES * page_bytes(), first;
	const char *data = (const char *)ring->control + page_bytes();

	at %= size;
	first = len < size - at ? len : size - at;
	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, len - first);
}

static void ring_read(struct ring *ring)
{
	struct sideband *sideband = ring->sideband;
	uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail;

	while (tail < head) {
		struct perf_event_header header;
		struct pending pending;
		void *bytes;

		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		bytes = buf_reserve(&sideband->bytes, header.size);
		if (!bytes) {
			sideband->lost++;
			sideband->rescan = true;
			break;
		}
		copy_out(ring, tail, bytes, header.size);
		pending.time = record_time(bytes, header.size);
		pending.offset = sideband->bytes.len;
		pending.len = header.size;
		buf_grown(&sideband->bytes, header.size);
		buf_add(&sideband->index, &pending, sizeof(pending));
		tail += header.size;
	}
	__atomic_store_n(&ring->control->data_tail, head, __ATOMIC_RELEASE);
}

static int by_time(const void *left, const void *right)
{
	const struct pending *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Tells what happened up to `until`, keeps the rest. */
static void tell(struct sideband *sideband, uint64_t until)
{
	size_t count = sideband->index.len / sizeof(struct pending), done = 0;
	struct pending *pending = (struct pending *)sideband->index.data;
	struct buf bytes = BUF_INIT, index = BUF_INIT;

	if (!count)
		return;
	qsort(pending, count, sizeof(*pending), by_time);
	while (done < count && pending[done].time <= until) {
		uint64_t lost = record_apply(sideband->bytes.data + pending[done].offset,
		                             pending[done].len, sideband->procs);

		sideband->lost += lost;
		sideband->rescan |= lost > 0;
		done++;
	}
	sideband->records += done;
	for (; done < count; done++) {
		struct pending kept = pending[done];

		buf_add(&bytes, sideband->bytes.data + kept.offset, kept.len);
		kept.offset = bytes.len - kept.len;
		buf_add(&index, &kept, sizeof(kept));
	}
	buf_release(&sideband->bytes);
	buf_release(&sideband->index);
	sideband->bytes = bytes;
	sideband->index = index;
}

void sideband_read(struct sideband *sideband)
{
	/* A record older than this is in its ring by now or will never be. */
	uint64_t now = clock_mono_ns();

	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (sideband->rings[cpu])
			ring_read(sideband->rings[cpu]);
	tell(sideband, now);
	if (sideband->rescan) {
		sideband->rescan = false;
		procs_scan(sideband->procs);
	}
	sideband->told(now, sideband->ctx);
}

uint64_t sideband_records(const struct sideband *sideband)
{
	return sideband->records;
}

uint64_t sideband_lost(const struct sideband *sideband)
{
	return sideband->lost;
}
