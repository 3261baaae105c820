/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attaches to the tracepoint mark_victim and reads its ring buffer.
 */
#include "growth/oom.h"

#include "base/buf.h"
#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STATUS_BYTES = 64 * 1024 };

/* The process of a thread that is killed, which still has a directory in /proc. If that cannot be
 * read, the thread's id is used, because most processes have one thread. */
static u32 process_of(u32 tid)
{
	_cleanup_(buf_release) struct buf status = BUF_INIT;
	char path[64];
	u32 pid;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	if (buf_read_file(&status, path, MAX_STATUS_BYTES) ||
	    memory_parse_tgid(buf_text(&status), status.len, &pid))
		return tid;
	return pid;
}

static void read_figures(const struct oom_victim *victim, struct memory_figures *figures)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE);
	bool known = victim->anon_pages || victim->file_pages || victim->shmem_pages;

	for (int i = 0; i < MEMORY_FIGURE_COUNT; i++)
		figures->values[i] = MEMORY_UNKNOWN;
	if (!known)
		return;
	figures->values[MEMORY_rss_anon] = victim->anon_pages * page;
	figures->values[MEMORY_rss_file] = victim->file_pages * page;
	figures->values[MEMORY_rss_shmem] = victim->shmem_pages * page;
	figures->values[MEMORY_swap] = victim->swap_pages * page;
}

static int take_victim(void *ctx, void *bytes, size_t len)
{
	struct oom *oom = ctx;
	const struct oom_victim *victim = bytes;
	struct oom_kill kill = {0};

	if (len < sizeof(*victim))
		return 0;
	kill.pid = victim->pid ? victim->pid : process_of(victim->tid);
	kill.user = victim->user;
	memcpy(kill.comm, victim->comm, sizeof(kill.comm) - 1);
	read_figures(victim, &kill.figures);
	oom->fn(&kill, oom->ctx);
	return 0;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct oom *oom = poll->data;

	(void)status;
	(void)events;
	ring_buffer__consume(oom->ring);
}

static int wait_for(struct oom *oom, uv_loop_t *loop)
{
	int err = uv_poll_init(loop, &oom->poll, ring_buffer__epoll_fd(oom->ring));

	if (err)
		return err;
	oom->poll.data = oom;
	oom->polling = true;
	return uv_poll_start(&oom->poll, UV_READABLE, on_readable);
}

void oom_start(struct oom *oom, struct bpf *bpf, uv_loop_t *loop, oom_fn *fn, void *ctx)
{
	int err = 0;

	*oom = (struct oom){.bpf = bpf, .fn = fn, .ctx = ctx};
	oom->ring = ring_buffer__new(bpf_map__fd(bpf->skeleton->maps.oom_victims), take_victim, oom,
	                             NULL);
	if (oom->ring)
		err = wait_for(oom, loop);
	if (!oom->ring || err) {
		snprintf(oom->why, sizeof(oom->why),
		         "cannot read the ring buffer of killed processes: %s",
		         strerror(err ? -err : errno));
		return;
	}
	oom->link = bpf_program__attach(bpf->skeleton->progs.oom_mark_victim);
	if (!oom->link)
		snprintf(oom->why, sizeof(oom->why),
		         "cannot attach to the tracepoint mark_victim: %s", strerror(errno));
}

void oom_stop(struct oom *oom)
{
	bpf_link__destroy(oom->link);
	oom->link = NULL;
	if (oom->polling)
		uv_close((uv_handle_t *)&oom->poll, NULL);
	oom->polling = false;
}

void oom_release(struct oom *oom)
{
	ring_buffer__free(oom->ring);
	oom->ring = NULL;
}

u64 oom_lost(const struct oom *oom)
{
	return oom->bpf ? oom->bpf->skeleton->bss->oom_victims_lost : 0;
}
