/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job for each request. To the crew every process is a device of its own: a process that hangs
 * does not delay the others.
 */
#include "proc/maps_reader.h"

#include "base/clock.h"
#include "base/shares.h"
#include "proc/owner.h"

#include <errno.h>

static const uint64_t deadline_ns = 2 * NSEC_PER_SEC;

/* A single user may have half: MAX_EXECUTABLE_BYTES. */
enum { MAX_READ_BYTES = 16 * 1024 * 1024 };

struct asked {
	struct crew_job job;
	struct maps_reader *reader;
	struct maps_reading reading;
	size_t bytes; /* that the reading holds */
};

struct maps_reader {
	struct maps_reader_config config;
	struct crew *crew;
	size_t waiting;
	pthread_mutex_t lock;
	struct shares bytes; /* of readings until read() is called, by user; under the lock */
};

/* Of any thread: many readings may end before the loop takes the first. */
static bool hold_bytes(struct asked *asked)
{
	struct maps_reader *reader = asked->reader;
	size_t bytes = asked->reading.text.maps.len;

	pthread_mutex_lock(&reader->lock);
	bool holds = shares_take(&reader->bytes, asked->job.owner, bytes);
	pthread_mutex_unlock(&reader->lock);
	asked->bytes = holds ? bytes : 0;
	return holds;
}

static void give_bytes(struct asked *asked)
{
	struct maps_reader *reader = asked->reader;

	pthread_mutex_lock(&reader->lock);
	shares_give(&reader->bytes, asked->job.owner, asked->bytes);
	pthread_mutex_unlock(&reader->lock);
}

static void read_one(struct crew_job *job)
{
	struct asked *asked = (struct asked *)job;
	struct maps_reading *reading = &asked->reading;
	uint64_t begun_ns = clock_mono_ns();

	reading->err = scan_read(reading->pid, &reading->text);
	if (!reading->err && !hold_bytes(asked)) {
		scan_text_release(&reading->text);
		reading->err = -ENOBUFS;
	}
	reading->took_ns = clock_mono_ns() - begun_ns;
}

static void tell_one(struct crew_job *job, int err)
{
	struct asked *asked = (struct asked *)job;
	struct maps_reader *reader = asked->reader;

	reader->waiting--;
	if (err)
		asked->reading.err = err;
	reader->config.read(&asked->reading, reader->config.ctx);
	scan_text_release(&asked->reading.text);
	give_bytes(asked);
	free(asked);
}

int maps_reader_new(const struct maps_reader_config *config, struct maps_reader **ret_reader)
{
	const struct crew_config crew = {.loop = config->loop,
	                                 .deadline_ns = deadline_ns,
	                                 .delivered = config->delivered,
	                                 .ctx = config->ctx};
	_cleanup_free_ struct maps_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->config = *config;
	reader->bytes.whole = MAX_READ_BYTES;
	err = crew_new(&crew, &reader->crew);
	if (err)
		return err;
	pthread_mutex_init(&reader->lock, NULL);
	*ret_reader = TAKE_PTR(reader);
	return 0;
}

void maps_reader_stop(struct maps_reader *reader)
{
	crew_stop(reader->crew);
}

void maps_reader_free(struct maps_reader *reader)
{
	if (!reader)
		return;
	bool leaves_threads = crew_leaves_threads(reader->crew);

	crew_free(reader->crew);
	/* They use the reader when they return. */
	if (leaves_threads)
		return;
	pthread_mutex_destroy(&reader->lock);
	shares_clear(&reader->bytes);
	free(reader);
}

int maps_reader_ask(struct maps_reader *reader, uint32_t pid, uint64_t tag)
{
	struct asked *asked = calloc(1, sizeof(*asked));
	int err;

	if (!asked)
		return -EAGAIN;
	*asked = (struct asked){
		.job = {.owner = owner_read(pid),
	                .device = crew_process(pid),
	                .run = read_one,
	                .done = tell_one},
		.reader = reader,
		.reading = {.pid = pid, .tag = tag},
	};
	asked->reading.owner = asked->job.owner;
	err = crew_submit(reader->crew, &asked->job);
	if (err) {
		free(asked);
		return err;
	}
	reader->waiting++;
	return 0;
}

void maps_reader_settle(struct maps_reader *reader, uint64_t patience_ns)
{
	crew_settle(reader->crew, patience_ns);
}

size_t maps_reader_waiting(const struct maps_reader *reader)
{
	return reader->waiting;
}

void maps_reader_get_stats(struct maps_reader *reader, struct crew_stats *ret_stats)
{
	crew_get_stats(reader->crew, ret_stats);
}
