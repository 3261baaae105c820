/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by process, object and address of the files that are being opened, and of those that were
 * opened and not taken yet. Each job has its own heap allocation: its thread may return after the
 * opener is gone.
 */
#include "probes/file_opener.h"

#include "base/clock.h"
#include "base/table.h"
#include "object/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A caller that was notified asks again within a third of a second. */
static const uint64_t keep_ns = 2 * NSEC_PER_SEC;

struct key {
	uint32_t pid, object;
	uint64_t start;
};

struct opening {
	struct crew_job job;
	struct file_opener *opener;
	struct key key;
	uint64_t end;
	char *path;
	uint64_t ended_ns; /* 0: not yet */
	int err, fd;
	struct file_inode inode;
	UT_hash_handle hh;
};

struct closing {
	struct crew_job job;
	int fd;
};

struct file_opener {
	struct crew *crew;
	struct store *store;
	void (*opened)(void *ctx);
	void *ctx;
	struct opening *by_key;
};

struct file_opener *file_opener_new(struct crew *crew, struct store *store,
                                    void (*opened)(void *ctx), void *ctx)
{
	struct file_opener *opener = calloc(1, sizeof(*opener));

	if (opener)
		*opener = (struct file_opener){crew, store, opened, ctx, NULL};
	return opener;
}

static void close_one(struct crew_job *job)
{
	close(((struct closing *)job)->fd);
}

static void closed_one(struct crew_job *job, int err)
{
	(void)err;
	free(job);
}

void file_opener_close(struct file_opener *opener, int *fd, uint32_t owner,
                       const struct file_inode *inode)
{
	struct closing *closing = *fd < 0 ? NULL : calloc(1, sizeof(*closing));

	if (closing) {
		*closing = (struct closing){
			.job = {.owner = owner,
		                .device = inode->stat.st_dev,
		                .gives_back = true,
		                .run = close_one,
		                .done = closed_one},
			.fd = *fd,
		};
		if (crew_submit(opener->crew, &closing->job))
			free(closing);
	}
	*fd = -1;
}

static void opening_free(struct opening *opening)
{
	free(opening->path);
	free(opening);
}

static void drop(struct file_opener *opener, struct opening *opening)
{
	HASH_DEL(opener->by_key, opening);
	file_opener_close(opener, &opening->fd, opening->job.owner, &opening->inode);
	opening_free(opening);
}

/* The crew is stopped. It keeps the jobs that it still has. */
void file_opener_free(struct file_opener *opener)
{
	struct opening *opening, *next;

	if (!opener)
		return;
	HASH_ITER (hh, opener->by_key, opening, next) {
		if (opening->ended_ns)
			drop(opener, opening);
		else
			HASH_DEL(opener->by_key, opening);
	}
	free(opener);
}

static void open_one(struct crew_job *job)
{
	struct opening *opening = (struct opening *)job;
	_cleanup_close_ int fd =
		reach_mapped(opening->key.pid, opening->key.start, opening->end, NULL);

	opening->err = fd < 0 ? fd : file_inode_get(fd, opening->path, &opening->inode);
	if (!opening->err)
		opening->fd = TAKE_FD(fd);
}

static void opened_one(struct crew_job *job, int err)
{
	struct opening *opening = (struct opening *)job;
	struct file_opener *opener = opening->opener;

	if (err)
		opening->err = err;
	opening->ended_ns = clock_mono_ns();
	opener->opened(opener->ctx);
}

/* The crew runs one job per device at a time. 0 when the object is no longer known. */
static uint64_t device_of(const struct file_opener *opener, uint32_t object_id)
{
	_cleanup_(object_unrefp) struct object *object = store_get(opener->store, object_id);

	return object ? object->device : 0;
}

static int start(struct file_opener *opener, const struct key *key, uint32_t owner,
                 const struct proc_mapping *mapping)
{
	struct opening *opening = calloc(1, sizeof(*opening));

	if (!opening)
		return -ENOMEM;
	opening->job = (struct crew_job){.owner = owner,
	                                 .device = device_of(opener, key->object),
	                                 .run = open_one,
	                                 .done = opened_one};
	opening->opener = opener;
	opening->key = *key;
	opening->end = mapping->end;
	opening->path = strdup(mapping->path);
	opening->fd = -1;
	if (opening->path)
		HASH_ADD(hh, opener->by_key, key, sizeof(opening->key), opening);
	if (!opening->hh.tbl) {
		opening_free(opening);
		return -ENOMEM;
	}
	if (crew_submit(opener->crew, &opening->job)) {
		drop(opener, opening);
		return -ENOSPC;
	}
	return -EINPROGRESS;
}

int file_opener_get(struct file_opener *opener, uint32_t pid, uint32_t owner,
                    const struct proc_mapping *mapping, int *ret_fd, struct file_inode *ret_inode)
{
	const struct key key = {pid, mapping->object, mapping->start};
	struct opening *opening;
	int err;

	HASH_FIND(hh, opener->by_key, &key, sizeof(key), opening);
	if (!opening)
		return start(opener, &key, owner, mapping);
	if (!opening->ended_ns)
		return -EINPROGRESS;
	err = opening->err;
	*ret_fd = TAKE_FD(opening->fd);
	*ret_inode = opening->inode;
	drop(opener, opening);
	return err;
}

bool file_opener_sweep(struct file_opener *opener)
{
	uint64_t now = clock_mono_ns();
	struct opening *opening, *next;

	HASH_ITER (hh, opener->by_key, opening, next) {
		if (opening->ended_ns && now - opening->ended_ns >= keep_ns)
			drop(opener, opening);
	}
	return opener->by_key != NULL;
}
