/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads /proc again after the kernel lost side-band records for lack of buffer space. Any user can
 * cause that by mapping faster than the daemon reads, and can make reading expensive by mapping
 * much. So a round starts at most every few seconds, and is done in pieces between which the loop
 * does other work. A process whose mappings took long to read is skipped for a time proportional to
 * that duration.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "proc/proc_private.h"

/* Minimum time between the starts of two rounds; duration of a piece, unless one process alone
 * takes longer. */
static const uint64_t round_ns = 5 * NSEC_PER_SEC, piece_ns = 5 * NSEC_PER_MSEC;

enum {
	ASKED_TOGETHER = 64
}; /* maps files requested at once; each is in memory until it is parsed */

static int note_pid(uint32_t pid, void *ctx)
{
	buf_add(ctx, &pid, sizeof(pid));
	return buf_error(ctx);
}

static void begin(struct rescan *rescan, uint64_t now_ns)
{
	struct buf pids = BUF_INIT;

	rescan->began_ns = now_ns;
	if (scan_all(note_pid, &pids)) {
		buf_release(&pids);
		return;
	}
	rescan->wanted = false;
	rescan->rounds++;
	rescan->pids = (uint32_t *)(void *)pids.data;
	rescan->count = pids.len / sizeof(uint32_t);
	rescan->next = 0;
}

static void scan_next(struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);

	if (process && clock_mono_ns() < process->rest_until_ns)
		procs->rescan.rested++;
	else
		procs_scan_pid(procs, pid);
}

static bool may_ask(const struct procs *procs)
{
	return !procs->reader || maps_reader_waiting(procs->reader) < ASKED_TOGETHER;
}

static void end(struct procs *procs)
{
	free(procs->rescan.pids);
	procs->rescan.pids = NULL;
	procs_find_ended(procs);
}

void procs_want_rescan(struct procs *procs)
{
	procs->rescan.wanted = true;
	procs->rescan.lost_ns = clock_mono_ns();
}

bool procs_rescan(struct procs *procs)
{
	struct rescan *rescan = &procs->rescan;
	uint64_t now_ns = clock_mono_ns(), until_ns = now_ns + piece_ns;

	if (!rescan->pids && rescan->wanted &&
	    (!rescan->began_ns || now_ns - rescan->began_ns >= round_ns))
		begin(rescan, now_ns);
	if (!rescan->pids)
		return rescan->wanted;
	while (rescan->next < rescan->count && may_ask(procs) && clock_mono_ns() < until_ns)
		scan_next(procs, rescan->pids[rescan->next++]);
	if (rescan->next == rescan->count)
		end(procs);
	return rescan->pids || rescan->wanted;
}
