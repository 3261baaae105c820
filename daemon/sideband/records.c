/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decodes perf side-band records. The records come from the kernel, but any user chooses the paths
 * in them, so every length is checked.
 */
#include "sideband/records.h"

#include <linux/perf_event.h>
#include <string.h>

/* What follows the header in each type of record, see perf_event_open(2). All types end with the
 * time. */
struct mmap2_body {
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};
struct comm_body {
	uint32_t pid, tid;
};
struct task_body {
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time;
};
struct lost_body {
	uint64_t id, lost;
};

enum { HEADER_BYTES = sizeof(struct perf_event_header), TRAILER_BYTES = sizeof(uint64_t) };

uint64_t record_time(const void *record, size_t len)
{
	uint64_t time;

	if (len < HEADER_BYTES + TRAILER_BYTES)
		return 0;
	memcpy(&time, (const char *)record + len - TRAILER_BYTES, sizeof(time));
	return time;
}

/* The NUL-terminated string between the fixed part and the time; NULL when there is none. */
static const char *record_string(const char *body, size_t body_len, size_t fixed)
{
	if (body_len <= fixed + TRAILER_BYTES ||
	    !memchr(body + fixed, '\0', body_len - fixed - TRAILER_BYTES))
		return NULL;
	return body + fixed;
}

static void apply_mmap2(const char *body, size_t len, struct procs *procs)
{
	const char *path = record_string(body, len, sizeof(struct mmap2_body));
	struct mmap2_body mmap2;
	struct file_key key;

	if (!path)
		return;
	memcpy(&mmap2, body, sizeof(mmap2));
	/* The kernel's own text is reported with pid -1. */
	if (mmap2.pid == UINT32_MAX || mmap2.start + mmap2.length < mmap2.start)
		return;
	key = (struct file_key){mmap2.major, mmap2.minor, mmap2.inode, mmap2.generation};
	procs_mmap(procs, mmap2.pid, mmap2.start, mmap2.start + mmap2.length, mmap2.offset, &key,
	           path);
}

static void apply_comm(const char *body, size_t len, uint16_t misc, uint64_t time,
                       struct procs *procs)
{
	const char *name = record_string(body, len, sizeof(struct comm_body));
	struct comm_body comm;

	if (!name)
		return;
	memcpy(&comm, body, sizeof(comm));
	if (misc & PERF_RECORD_MISC_COMM_EXEC)
		procs_exec(procs, comm.pid, name, time);
	else
		procs_comm(procs, comm.pid, comm.tid, name);
}

static void apply_task(const char *body, size_t len, uint32_t type, struct procs *procs)
{
	struct task_body task;

	if (len < sizeof(task))
		return;
	memcpy(&task, body, sizeof(task));
	if (type == PERF_RECORD_EXIT)
		procs_exit(procs, task.pid, task.tid, task.time);
	else if (task.pid != task.parent_pid)
		procs_fork(procs, task.parent_pid, task.pid, task.time);
	else
		procs_thread(procs, task.pid);
}

uint64_t record_apply(const void *record, size_t len, struct procs *procs)
{
	const char *body = (const char *)record + HEADER_BYTES;
	struct perf_event_header header;
	struct lost_body lost;

	if (len < HEADER_BYTES + TRAILER_BYTES)
		return 0;
	memcpy(&header, record, sizeof(header));
	len -= HEADER_BYTES;
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		apply_mmap2(body, len, procs);
		break;
	case PERF_RECORD_COMM:
		apply_comm(body, len, header.misc, record_time(record, len + HEADER_BYTES), procs);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		apply_task(body, len, header.type, procs);
		break;
	case PERF_RECORD_LOST:
		if (len < sizeof(lost))
			return 0;
		memcpy(&lost, body, sizeof(lost));
		return lost.lost;
	}
	return 0;
}
