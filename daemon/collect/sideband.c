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
	RING_PAGES = 32, /* 128 KiB: about 1,000 records, a hundred execs */
	/* A ring wakes us when it is this full: a storm of 2,000 execs a second does so some 30
	 * times, and has three quarters of the ring until we come. */
	FULL_SHARE = 4,
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
	ring->control = control;
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

/* Tells what happened up to `until`, keeps the rest; how many records it told. */
static size_t tell(struct sideband *sideband, uint64_t until)
{
	size_t count = sideband->index.len / sizeof(struct pending), done = 0, told;
	struct pending *pending = (struct pending *)sideband->index.data;
	struct buf bytes = BUF_INIT, index = BUF_INIT;

	if (!count)
		return 0;
	qsort(pending, count, sizeof(*pending), by_time);
	procs_begin(sideband->procs);
	while (done < count && pending[done].time <= until) {
		uint64_t lost = record_apply(sideband->bytes.data + pending[done].offset,
		                             pending[done].len, sideband->procs);

		sideband->lost += lost;
		sideband->rescan |= lost > 0;
		done++;
	}
	procs_end(sideband->procs);
	sideband->records += told = done;
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
	return told;
}

bool sideband_is_waiting(const struct sideband *sideband)
{
	bool waiting = sideband->index.len > 0;

	for (uint32_t cpu = 0; cpu < MAX_CPUS && !waiting; cpu++) {
		const struct ring *ring = sideband->rings[cpu];

		waiting = ring && __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE) !=
		                          ring->control->data_tail;
	}
	return waiting;
}

bool sideband_read(struct sideband *sideband)
{
	/* A record older than this is in its ring by now or will never be. */
	uint64_t now = clock_mono_ns();
	size_t told;

	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		if (sideband->rings[cpu])
			ring_read(sideband->rings[cpu]);
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
